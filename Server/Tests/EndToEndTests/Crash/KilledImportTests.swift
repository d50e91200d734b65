import ClarionTesting
import Foundation
import HubProtocol
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
    private static let timeout = Duration.seconds(20)

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
            let job = try await Self.submit(to: server)
            var done = 0.0
            for round in 1...Self.rounds {
                let end = ContinuousClock.now + (Self.isLong ? .seconds(3) : .zero)
                let current = server
                done = try await eventually("the import advances in round \(round)", within: Self.timeout) {
                    let progress = try await JobCaller(server: current).job(job).progress
                    return progress ?? 0 > done ? progress : nil
                }
                try? await Task.sleep(until: end, clock: .continuous)
                server.process.kill()
                await server.process.waitUntilGone()
                server = try await server.restarted(shared: shared)
            }
            #expect(done < 100, "the import was over before the last kill: it needs more lines on this machine")
            let ended = try await JobCaller(server: server).ended(job, within: .seconds(300))
            #expect(ended.status == .completed, "\(ended.failure ?? "")")
            try await Self.check(ended)
            #expect(await server.process.terminate() == 0)
        }
    }

    private static func submit(to server: HubServer) async throws -> String? {
        let caller = JobCaller(server: server)
        let container = try await caller.makeContainer()
        for file in 0..<(lines / linesPerFile) {
            let text = (file * linesPerFile..<(file + 1) * linesPerFile).map(line).joined()
            #expect(try await JobCaller.call(.PUT, JobCaller.file("in/\(file).txt", in: container), text).status == .created)
        }
        // A line that was applied twice would be two registrations.
        let document = HubJobDocument(
            .importCreateRegistrations, outputContainer: container, importFile: container + "&prefix=in/")
        return try await caller.submit(document).id
    }

    private static func line(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return RegistrationLines.line(
            RegistrationDescription(
                .apple, handle: String(repeating: "0", count: 64 - digits.count) + digits, tags: ["n:\(number)"]))
    }

    private static func check(_ job: HubJobDocument) async throws {
        let read = try await JobCaller.output(of: job)
        #expect(read.count == lines)
        #expect(Set(read.flatMap(\.tags)).count == lines)
        #expect(Set(read.compactMap(\.registrationID)).count == lines)
    }
}
