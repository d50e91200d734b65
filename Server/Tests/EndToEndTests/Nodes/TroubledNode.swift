import ClarionTesting
import Foundation

/// A node that is killed and started again, behind a way to the database that is cut and slowed.
final class TroubledNode {
    let number: Int
    let proxy: FaultProxy
    private let fleet: Fleet
    private let settings: [String: String]
    private(set) var process: ServerProcess

    /// Starts a node on a database of a server.
    init(number: Int, _ fleet: Fleet, at server: ThrowAwayPostgreSQL, database: String) async throws {
        self.number = number
        self.fleet = fleet
        proxy = try await FaultProxy(.socket(server.socketPath))
        settings = [
            "CLARION_DATABASE_URL": "postgres://clarion@127.0.0.1:\(proxy.port)/\(database)?sslmode=disable",
            "CLARION_PUSH_DEADLINE": "3s",
        ]
        process = try await fleet.start(number: number, settings)
    }

    /// SIGKILL. Its leases stay its own until it is started again, or until they end.
    func kill() async {
        process.kill()
        await process.waitUntilGone()
    }

    /// Starts again what was killed. The way to the database is whole by then, or the start would wait for it.
    func start() async throws { process = try await fleet.start(number: number, settings) }

    /// Ends every connection to the database; new ones can be made.
    func cut() { proxy.set(.none) }

    /// The node does not reach the database any more.
    func isolate() async throws { try await proxy.stop() }

    /// It does again.
    func rejoin() async throws { try await proxy.restart() }

    /// Everything to and from the database takes longer for a while; no connection ends.
    func slow(by delay: Duration, for pause: Duration) async throws {
        proxy.slow(by: delay)
        try await Task.sleep(for: pause)
        proxy.slow(by: .zero)
    }

    /// Ends it in order.
    func stop() async throws -> Int32 {
        let status = await process.terminate()
        try await proxy.stop()
        return status
    }
}
