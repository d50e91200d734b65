import EngineTesting
import PushHub
import RichPushModel
import SQLStorage
import StorageConformance
import Testing

@Suite("Checkpoints that others are in the way of")
struct CheckpointConflictTests {
    /// A database that does each write so many times before one counts, as a driver does after conflicts.
    private struct RepeatingDatabase: SQLDatabase {
        struct Again: Error {}

        let inner: any SQLDatabase
        let conflicts: Int

        var dialect: SQLDialect { inner.dialect }
        var lastWriteFault: String? { inner.lastWriteFault }
        func tableNames() async throws -> [String] { try await inner.tableNames() }
        func close() throws { try inner.close() }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result { try await inner.read(body) }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result {
            for _ in 0..<conflicts {
                do {
                    try await inner.write { connection in
                        _ = try body(connection)
                        throw Again()
                    }
                } catch is Again {}
            }
            return try await inner.write(body)
        }
    }

    @Test("they are written together after a conflict, and refused together after several; nothing is written then")
    func parting() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<2)
        for _ in 0..<2 { _ = try await bench.send() }
        let request = LeaseRequest(
            owner: "a", now: bench.clock.now, until: bench.clock.now + .seconds(60), limit: 9, smallLimit: 9, largeLimit: 9,
            singleLimit: 9)
        let leases = try await bench.store.hub.queue.lease(request)
        let checkpoints = leases.map { lease in
            var checkpoint = SliceCheckpoint(
                lease: lease, now: bench.clock.now, disposition: .keep(until: bench.clock.now + .seconds(60)))
            checkpoint.tallies = [.accepted: 1]
            return checkpoint
        }
        #expect(checkpoints.count == 2)
        let queue = { SQLSliceQueue(RepeatingDatabase(inner: bench.store.database, conflicts: $0)) }
        await #expect(throws: CheckpointsInConflict.self) { try await queue(3).checkpoints(checkpoints) }
        for lease in leases {
            let telemetry = try await bench.hub.telemetry(of: lease.id.notification)
            #expect(telemetry?.outcomes == [:])
        }
        // The file does a write that failed once more by itself.
        let together = try await queue(1).checkpoints(checkpoints)
        let alone = try await queue(9).checkpoint(checkpoints[0])
        #expect(together == [.stored(ended: nil), .stored(ended: nil)])
        #expect(alone == .stored(ended: nil))
        let telemetry = try await bench.hub.telemetry(of: leases[0].id.notification)
        #expect(telemetry?.outcomes == [.accepted: 2])
    }
}
