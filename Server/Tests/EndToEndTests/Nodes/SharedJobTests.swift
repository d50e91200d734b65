import AsyncHTTPClient
import ClarionTesting
import Foundation
import HubProtocol
import NIOCore
import NIOHTTP1
import RichPushModel
import Testing

/// Jobs of nodes that share a database and a bucket, and no disk.
struct SharedJobTests {
    private static let count = 3000

    @Test("a file put at one node is imported by another, and what that writes is read at the first")
    func story() async throws {
        try await TemporaryFolder.use { folder in
            let postgres = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: postgres).merging(SharedPlaces.bucket()) { $1 }
            try FileManager.default.createDirectory(atPath: folder + "/front", withIntermediateDirectories: true)
            let front = try await HubServer.start(
                in: folder + "/front", hubs: ["demo"], environment: ["CLARION_ROLE": "api"], shared: shared)
            let container = try await Self.locatedContainer(front)
            let lines = (0..<Self.count).map { number in
                RegistrationLines.line(
                    RegistrationDescription(
                        .apple, handle: String(repeating: "0", count: 60) + "\(5000 + number)", tags: ["n:\(number)"]))
            }
            #expect(try await Self.call(.PUT, Self.file("in.txt", container), lines.joined()).status == .created)
            let document = HubJobDocument(
                .importCreateRegistrations, outputContainer: container, importFile: Self.file("in.txt", container))
            let job = try await Self.submit(document, front)
            // Nobody works on it: that node only answers.
            #expect(try await Self.job(job.id, front).status != .completed)
            let worker = try await ServerProcess(
                dataDirectory: folder + "/worker",
                environment: shared.merging(["CLARION_ROLE": "worker", "CLARION_LOG_LEVEL": "warning"]) { $1 })
            let done = try await eventually("the worker does it") {
                let found = try await Self.job(job.id, front)
                return found.status == .completed || found.status == .failed ? found : nil
            }
            #expect(done.status == .completed, "\(done.failure ?? "")")
            let output = try #require(done.outputProperties.first { $0.key == "OutputFilePath" }?.value)
            let answer = try await Self.call(.GET, Self.file(output, done.outputContainer))
            let tags = try String(buffer: answer.body).split(separator: "\n").map {
                try RegistrationLines.read(Array($0.utf8)).tags.first ?? ""
            }
            #expect(tags == (0..<Self.count).map { "n:\($0)" })
            for place in ["front", "worker"] {
                #expect(!FileManager.default.fileExists(atPath: folder + "/\(place)/containers"))
            }
            #expect(await worker.terminate() == 0)
            #expect(await front.process.terminate() == 0)
        }
    }

    private typealias Answer = (status: HTTPResponseStatus, headers: HTTPHeaders, body: ByteBuffer)

    private static func call(
        _ method: HTTPMethod, _ url: String, _ body: String = "", token: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: token) }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        return (answer.status, answer.headers, try await answer.body.collect(upTo: 16 << 20))
    }

    private static func locatedContainer(_ server: HubServer) async throws -> String {
        let answer = try await call(.POST, "http://127.0.0.1:\(server.port)/$containers/demo", token: server.token("demo"))
        return try #require(answer.headers.first(name: "Location"))
    }

    /// The link to a file in a container.
    private static func file(_ name: String, _ container: String) -> String {
        let parts = container.split(separator: "?", maxSplits: 1)
        return "\(parts[0])/\(name)?\(parts.last ?? "")"
    }

    private static func submit(_ document: HubJobDocument, _ server: HubServer) async throws -> HubJobDocument {
        let url = "http://127.0.0.1:\(server.port)/demo/jobs?api-version=2020-06"
        let answer = try await call(.POST, url, document.request(), token: server.token("demo"))
        return try HubJobDocument.read(entry: Array(answer.body.readableBytesView))
    }

    private static func job(_ id: String?, _ server: HubServer) async throws -> HubJobDocument {
        let url = "http://127.0.0.1:\(server.port)/demo/jobs/\(id ?? "")?api-version=2020-06"
        return try HubJobDocument.read(
            entry: Array(try await call(.GET, url, token: server.token("demo")).body.readableBytesView))
    }
}
