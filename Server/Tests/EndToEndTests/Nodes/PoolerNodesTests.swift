import ClarionTesting
import Foundation
import Testing

/// Two `serve` processes whose database stands behind PgBouncer in transaction mode.
struct PoolerNodesTests {
    private static let size = 300

    @Test(
        "they make the schema together, and what one accepts goes out once, by the other too, whether they know of the pooler or not",
        arguments: ["session", "transaction"])
    func sends(pooler: String) async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            var shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let name = try #require(shared["CLARION_DATABASE_URL"].flatMap { URL(string: $0) }).lastPathComponent
            try await ThrowAwayPgBouncer.with(server, connections: 6) { bouncer in
                shared["CLARION_DATABASE_URL"] = bouncer.url(database: name)
                shared["CLARION_DATABASE_POOLER"] = pooler
                let fleet = try await Fleet(folder: folder, size: Self.size, shared: shared)
                let api = try await fleet.start(number: 1, ["CLARION_ROLE": "api"])
                let worker = try await fleet.start(number: 2, ["CLARION_ROLE": "worker"])
                let both = try await fleet.start(number: 3)
                for key in ["a", "b", "c"] {
                    for node in [api, both] {
                        let answer = try await fleet.send(through: node.address, key: "\(key)-\(node.address)")
                        let status = try await eventually("a send completes") {
                            let status = try await fleet.status(of: answer, at: api.address)
                            return status.state == "completed" ? status : nil
                        }
                        #expect(status.outcomes == ["accepted": Self.size])
                        #expect(try fleet.acceptances(of: answer) == Array(repeating: 1, count: Self.size))
                    }
                }
                if pooler == "transaction" {
                    let listening = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '\(name)' AND query LIKE 'LISTEN%';"
                    #expect(try await server.run(script: listening).hasPrefix("0"))
                }
                for node in [api, worker, both] {
                    #expect(try await APIClient.anonymous(node.address + "/readyz").status == 200)
                    #expect(await node.terminate() == 0)
                    #expect(node.errors.isEmpty, "\(node.printed)")
                }
                await fleet.apns.shutdown()
            }
        }
    }
}
