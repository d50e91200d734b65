import ClarionTesting
import Foundation
import Testing

@testable import SQLStorage

/// A server whose database a newer version takes over.
struct TakeoverTests {
    @Test(
        "a server that has become too old for its database ends by itself, says why, and does not start again",
        .timeLimit(.minutes(10)))
    func ends() async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let environment = shared.merging(["CLARION_LOG_LEVEL": "warning"]) { $1 }
            let node = try await ServerProcess(dataDirectory: folder + "/1", environment: environment)
            let name = try #require(shared["CLARION_DATABASE_URL"]?.split(separator: "/").last?.prefix { $0 != "?" })
            let script = { (text: String) in try await server.run(script: "\\connect \(name)\n\(text);\n") }
            let steps = try await script("SELECT schema_step FROM nodes").split(whereSeparator: \.isWhitespace)
            #expect(steps == ["\(SchemaMigrator().known)"])
            _ = try await script("INSERT INTO schema_fence VALUES (1, 1000)")
            await node.waitUntilGone()
            #expect(await node.terminate() != 0)
            #expect(node.printed.contains("A newer version has taken over the database"), "\(node.printed)")
            #expect(node.printed.contains("run the newer version"), "\(node.printed)")
            #expect(try await script("SELECT COUNT(*) FROM nodes").hasPrefix("0"), "it has taken its leave")
            var again = ChildProcess.Command(ServerProcess.program, ["serve"], output: folder + "/again")
            again.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
                .merging(["CLARION_DATA_DIRECTORY": folder + "/1", "CLARION_LISTEN_PORT": "0"]) { $1 }
            #expect(try await ChildProcess(again).exitStatus() != 0)
            let printed = try String(contentsOfFile: again.output, encoding: .utf8)
            #expect(printed.contains("has schema 1000") && printed.contains("run the newer version"), "\(printed)")
        }
    }
}
