import ClarionTesting
import Foundation
import HubProtocol
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
            let caller = JobCaller(server: front)
            let container = try await caller.makeContainer()
            let lines = (0..<Self.count).map { number in
                RegistrationLines.line(
                    RegistrationDescription(
                        .apple, handle: String(repeating: "0", count: 60) + "\(5000 + number)", tags: ["n:\(number)"]))
            }
            #expect(try await JobCaller.call(.PUT, JobCaller.file("in.txt", in: container), lines.joined()).status == .created)
            let document = HubJobDocument(
                .importCreateRegistrations, outputContainer: container, importFile: JobCaller.file("in.txt", in: container))
            let job = try await caller.submit(document)
            // No node works on it: this one only answers requests.
            #expect(try await caller.job(job.id).status != .completed)
            let worker = try await ServerProcess(
                dataDirectory: folder + "/worker",
                environment: shared.merging(["CLARION_ROLE": "worker", "CLARION_LOG_LEVEL": "warning"]) { $1 })
            let done = try await caller.ended(job.id)
            #expect(done.status == .completed, "\(done.failure ?? "")")
            let tags = try await JobCaller.output(of: done).map { $0.tags.first ?? "" }
            #expect(tags == (0..<Self.count).map { "n:\($0)" })
            for place in ["front", "worker"] {
                #expect(!FileManager.default.fileExists(atPath: folder + "/\(place)/containers"))
            }
            #expect(await worker.terminate() == 0)
            #expect(await front.process.terminate() == 0)
        }
    }
}
