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
        var waiting: [PendingWrite] = []
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
            enqueue(
                PendingWrite(
                    perform: { connection in
                        let result = try body(connection)
                        return { continuation.resume(returning: result) }
                    },
                    fail: { continuation.resume(throwing: $0) }))
        }
    }

    private func enqueue(_ write: PendingWrite) {
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

    private func nextBatch() -> [PendingWrite]? {
        queue.withLock { queue in
            let batch = Array(queue.waiting.prefix(Self.batch))
            queue.waiting.removeFirst(batch.count)
            queue.isDraining = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }
}

/// One `BEGIN IMMEDIATE … COMMIT` for several writes. Answers each write exactly once.
private struct GroupTransaction {
    private let database: Database

    private let health: WriteHealth
    /// How much this connection had changed before.
    private let changesBefore: Int
    private let mark = WriteMark()

    init(_ database: Database, health: WriteHealth) {
        self.database = database
        self.health = health
        changesBefore = database.totalChangesCount
    }

    /// First all together, without a savepoint for each: they hardly ever fail. Should one fail that has written, all is undone and
    /// done again with savepoints, so that it alone is undone.
    func run(_ writes: [PendingWrite]) {
        guard begins(writes) else { return }
        if let results = performedTogether(writes) { return finish(Array(zip(writes, results))) }
        if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") }
        guard begins(writes) else { return }
        finish(writes.map { ($0, performed($0)) })
    }

    private func begins(_ writes: [PendingWrite]) -> Bool {
        do {
            try step("BEGIN IMMEDIATE")
            return true
        } catch {
            let fault = FaultMapping.commitFault(error)
            health.failed(fault)
            for write in writes { write.fail(fault) }
            return false
        }
    }

    /// The results in the writes' order; `nil` when one has failed and left something behind.
    private func performedTogether(_ writes: [PendingWrite]) -> [Result<@Sendable () -> Void, any Error>]? {
        var results: [Result<@Sendable () -> Void, any Error>] = []
        for write in writes {
            mark.isSet = false
            let result = Result { try FaultMapping.mapped { try write.perform(SQLiteConnection(database, mark: mark)) } }
            guard database.isInsideTransaction else { return nil }
            if case .failure = result, mark.isSet { return nil }
            results.append(result)
        }
        return results
    }

    /// The write in a savepoint. An error of the undo itself shows as a transaction that is gone, see `finish`.
    private func performed(_ write: PendingWrite) -> Result<@Sendable () -> Void, any Error> {
        Result {
            guard database.isInsideTransaction else { throw SQLFault.unavailable(reason: "the transaction was rolled back") }
            return try FaultMapping.mapped {
                try step("SAVEPOINT one")
                do {
                    let answer = try write.perform(SQLiteConnection(database))
                    try step("RELEASE one")
                    return answer
                } catch {
                    if database.isInsideTransaction { try database.execute(sql: "ROLLBACK TO one; RELEASE one") }
                    throw error
                }
            }
        }
    }

    /// Runs a statement that every write needs, compiled once.
    private func step(_ text: String) throws { try database.cachedStatement(sql: text).execute() }

    private func finish(_ performed: [(write: PendingWrite, result: Result<@Sendable () -> Void, any Error>)]) {
        let failure = commit()
        report(performed.map(\.result), failure)
        for (write, result) in performed {
            switch (result, failure) {
            case (.failure(let error), _): write.fail(error)
            case (.success, .some(let failure)): write.fail(failure)
            case (.success(let answer), .none): answer()
            }
        }
    }

    /// The first error is the cause; those after it only say that the transaction is gone.
    private func report(_ results: [Result<@Sendable () -> Void, any Error>], _ failure: (any Error)?) {
        let faults = results.compactMap { result -> SQLFault? in
            guard case .failure(let error) = result, let fault = error as? SQLFault, fault.isUnavailable else { return nil }
            return fault
        }
        if let cause = faults.first ?? failure {
            health.failed(cause)
        } else if database.totalChangesCount > changesBefore {
            health.succeeded()
            health.kept()
        }
    }

    /// Commits; returns what went wrong. A full disk, for example, makes the engine roll back by itself before this.
    private func commit() -> (any Error)? {
        guard database.isInsideTransaction else { return SQLFault.unavailable(reason: "the transaction was rolled back") }
        do {
            try step("COMMIT")
            return nil
        } catch {
            if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") }
            return FaultMapping.commitFault(error)
        }
    }
}

extension SQLFault {
    fileprivate var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}

/// A write that waits for its commit.
private struct PendingWrite: Sendable {
    /// Runs the write and returns how to answer once the commit is durable. Throws what the write throws.
    let perform: @Sendable (any SQLConnection) throws -> @Sendable () -> Void
    let fail: @Sendable (any Error) -> Void
}
