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

    /// SIGKILL, and a start after a while. The way to the database is whole again by then, or the start would wait for it.
    func killAndStart(after pause: Duration) async throws {
        process.kill()
        await process.waitUntilGone()
        try await Task.sleep(for: pause)
        proxy.set(.none)
        process = try await fleet.start(number: number, settings)
    }

    /// Ends every connection to the database; new ones can be made.
    func cut() { proxy.set(.none) }

    /// Nobody reaches the database for a while.
    func isolate(for pause: Duration) async throws {
        try await proxy.stop()
        try await Task.sleep(for: pause)
        try await proxy.restart()
    }

    /// Everything to and from the database takes longer for a while.
    func slow(by delay: Duration, for pause: Duration) async throws {
        proxy.set(.delay(delay))
        try await Task.sleep(for: pause)
        proxy.set(.none)
    }

    /// Ends it in order.
    func stop() async throws -> Int32 {
        let status = await process.terminate()
        try await proxy.stop()
        return status
    }
}
