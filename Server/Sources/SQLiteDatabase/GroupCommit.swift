import GRDB
import SQLStorage
import Synchronization

/// Lets writes that wait at the same time share one commit, which is what costs: one wait for the disk instead of many.
///
/// An error undoes its own write alone, see `GroupTransaction`. All are answered after the commit.
final class GroupCommit: Sendable {
    /// How many writes may wait; more are refused as unavailable.
    static let bound = 4096
    /// How many writes share a commit at most.
    static let batch = 128

    private struct Queue {
        var waiting: [any PendingWrite] = []
        var isDraining = false
    }

    private let pool: DatabasePool
    private let health: WriteHealth
    private let queue = Mutex(Queue())

    init(pool: DatabasePool, health: WriteHealth) {
        self.pool = pool
        self.health = health
    }

    /// How busy the one connection that writes is.
    var load: DatabaseLoad.Pool {
        queue.withLock { .init(size: 1, inUse: $0.isDraining ? 1 : 0, waiting: $0.waiting.count) }
    }

    func run<Result: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(TypedWrite(body: body, continuation: continuation))
        }
    }

    private func enqueue(_ write: any PendingWrite) {
        let (isFull, startsDrain) = queue.withLock { queue -> (Bool, Bool) in
            guard queue.waiting.count < Self.bound else { return (true, false) }
            queue.waiting.append(write)
            let starts = !queue.isDraining
            queue.isDraining = true
            return (false, starts)
        }
        if isFull { write.fail(SQLFault.unavailable(reason: "too many writes wait")) }
        if startsDrain { pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    private func drain(_ database: Database) {
        while let batch = nextBatch() { GroupTransaction(database, health: health).run(batch) }
    }

    private func nextBatch() -> [any PendingWrite]? {
        queue.withLock { queue in
            let batch = Array(queue.waiting.prefix(Self.batch))
            queue.waiting.removeFirst(batch.count)
            queue.isDraining = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }
}
