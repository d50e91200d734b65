import ClarionTesting
import Foundation
import Testing

@testable import SQLStorage

/// A server whose database a newer version takes over.
struct TakeoverTests {
    @Test(
        "a server that has become too old for its database ends by itself, says why, and does not start again",
        .timeLimit(.minutes(2)))
    func ends() async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let environment = shared.merging(["CLARION_LOG_LEVEL": "warning"]) { $1 }
            let node = try await ServerProcess(dataDirectory: folder + "/1", environment: environment)
            let name = try #require(shared["CLARION_DATABASE_URL"]?.split(separator: "/").last?.prefix { $0 != "?" })
            let script = { (text: String) in try await server.run(script: "\\connect \(name)\n\(text);\n") }
            #expect(try await script("SELECT schema_step FROM nodes").contains("\(SchemaMigrator().known)"))
            _ = try await script("INSERT INTO schema_fence VALUES (1, 1000)")
            await node.waitUntilGone()
            #expect(await node.terminate() != 0)
            #expect(node.printed.contains("A newer version has taken over the database"), "\(node.printed)")
            #expect(node.printed.contains("run the newer version"), "\(node.printed)")
            #expect(try await script("SELECT COUNT(*) FROM nodes").hasPrefix("0"), "it has taken its leave")
            let error = await #expect(throws: (any Error).self) {
                _ = try await ServerProcess(dataDirectory: folder + "/1", environment: environment)
            }
            #expect("\(String(describing: error))".contains("has schema 1000"), "\(String(describing: error))")
        }
    }
}
