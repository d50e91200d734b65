import AsyncHTTPClient
import ClarionTesting
import Foundation
import HubProtocol
import NIOCore
import NIOHTTP1
import RichPushModel
import Testing

/// An import on a real process that is killed and started again, again and again.
@Suite(.serialized)
struct KilledImportTests {
    /// In the long form every process lives for three seconds, 14 times; in the short form until the import advances.
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let rounds = isLong ? 14 : 3
    private static let lines = isLong ? 400_000 : 20_000
    private static let linesPerFile = 10_000
    /// Less than a lease lasts: a node that waited for the end of its own lease would not advance.
    private static let patience = Duration.seconds(20)

    enum Engine: String, CaseIterable { case sqlite, postgreSQL }

    @Test(
        "an import advances with each start of a node that is killed again and again, and ends with every line once",
        .timeLimit(.minutes(15)), arguments: Engine.allCases)
    func killed(_ engine: Engine) async throws {
        try await TemporaryFolder.use { folder in
            var shared: [String: String] = [:]
            if engine == .postgreSQL {
                shared = try await SharedPlaces.database(at: try await ThrowAwayPostgreSQL.ofProcess())
            }
            var server = try await HubServer.start(in: folder, hubs: ["demo"], shared: shared)
            let (container, job) = try await Self.submit(to: server)
            var done = 0.0
            for round in 1...Self.rounds {
                let end = ContinuousClock.now + (Self.isLong ? .seconds(3) : .zero)
                let current = server
                done = try await eventually("the import advances in round \(round)", within: Self.patience) {
                    let progress = try await Self.job(job, current).progress
                    return progress ?? 0 > done ? progress : nil
                }
                try? await Task.sleep(until: end, clock: .continuous)
                server.process.kill()
                await server.process.waitUntilGone()
                server = try await server.restarted(shared: shared)
            }
            #expect(done < 100, "the import was over before the last kill: it needs more lines on this machine")
            let current = server
            let ended = try await eventually("the import ends", within: .seconds(300)) {
                let found = try await Self.job(job, current)
                return found.status == .completed || found.status == .failed ? found : nil
            }
            #expect(ended.status == .completed, "\(ended.failure ?? "")")
            try await Self.check(ended, container)
            #expect(await server.process.terminate() == 0)
        }
    }

    private static func submit(to server: HubServer) async throws -> (container: String, job: String?) {
        let answer = try await call(.POST, server.url("/$containers/demo"), token: server.token("demo"))
        let container = try #require(answer.headers.first(name: "Location"))
        for file in 0..<(lines / linesPerFile) {
            let text = (file * linesPerFile..<(file + 1) * linesPerFile).map(line).joined()
            #expect(try await call(.PUT, self.file("in/\(file).txt", container), text).status == .created)
        }
        // A line that was applied twice would be two registrations.
        let document = HubJobDocument(
            .importCreateRegistrations, outputContainer: container, importFile: container + "&prefix=in/")
        let accepted = try await call(
            .POST, server.url("/demo/jobs?api-version=2020-06"), document.request(), token: server.token("demo"))
        return (container, try HubJobDocument.read(entry: Array(accepted.body.readableBytesView)).id)
    }

    private static func line(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return RegistrationLines.line(
            RegistrationDescription(
                .apple, handle: String(repeating: "0", count: 64 - digits.count) + digits, tags: ["n:\(number)"]))
    }

    private static func check(_ job: HubJobDocument, _ container: String) async throws {
        let output = try #require(job.outputProperties.first { $0.key == "OutputFilePath" }?.value)
        let answer = try await call(.GET, file(output, job.outputContainer))
        let read = try String(buffer: answer.body).split(separator: "\n").map { try RegistrationLines.read(Array($0.utf8)) }
        #expect(read.count == lines)
        #expect(Set(read.flatMap(\.tags)).count == lines)
        #expect(Set(read.compactMap(\.registrationID)).count == lines)
    }

    private static func job(_ id: String?, _ server: HubServer) async throws -> HubJobDocument {
        let answer = try await call(
            .GET, server.url("/demo/jobs/\(id ?? "")?api-version=2020-06"), token: server.token("demo"))
        return try HubJobDocument.read(entry: Array(answer.body.readableBytesView))
    }

    /// The link to a file in a container, wherever the server listens now.
    private static func file(_ name: String, _ container: String) -> String {
        let parts = container.split(separator: "?", maxSplits: 1)
        return "\(parts[0])/\(name)?\(parts.last ?? "")"
    }

    private typealias Answer = (status: HTTPResponseStatus, headers: HTTPHeaders, body: ByteBuffer)

    private static func call(
        _ method: HTTPMethod, _ url: String, _ body: String = "", token: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: token) }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return (answer.status, answer.headers, try await answer.body.collect(upTo: 512 << 20))
    }
}
