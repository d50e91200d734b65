import SQLStorage

/// Decides whether work is retried after a fault that left nothing written.
struct TransactionRetryPlan: Hashable {
    enum Instruction: Hashable {
        case again(after: Duration)
        /// Retry all of it together, after the writes that already wait for their turn.
        case inTurn
        /// Retry each write by itself, for fewer conflicts.
        case apart
        case giveUp(SQLFault)
    }

    /// Until when conflicts are retried.
    let deadline: Duration
    private var takesTurns: Bool
    private var conflicts = 0
    private var duplicates = 0
    private var losses = 0

    /// With `takesTurns` work waits for its turn after the second conflict. Without turns a retry may conflict again and again, because
    /// the transaction that won is also the first to begin its next one.
    init(deadline: Duration, takesTurns: Bool = false) {
        self.deadline = deadline
        self.takesTurns = takesTurns
    }

    /// There are no turns, as in a database without the table for them.
    mutating func turnsAreMissing() { takesTurns = false }

    /// After so many conflicts without turns, writes that share a transaction are separated.
    private static let conflictsTogether = 3
    private static let conflictLimit = 30
    private static let lossLimit = 2

    /// `jitter` is 0 to 1; `isShared` says that several writes were in the transaction.
    mutating func next(after fault: PostgresFault, isShared: Bool, at uptime: Duration, jitter: Double) -> Instruction {
        switch fault.kind {
        case .conflict:
            conflicts += 1
            guard conflicts <= Self.conflictLimit, uptime < deadline else { return .giveUp(fault.fault) }
            // The first retry needs no pause: the other transaction has committed.
            if conflicts == 1 { return .again(after: .zero) }
            if takesTurns { return .inTurn }
            if isShared, conflicts > Self.conflictsTogether { return .apart }
            return .again(after: min(.milliseconds(1) * (1 << min(conflicts, 10)), .milliseconds(250)) * jitter)
        case .duplicate:
            duplicates += 1
            if duplicates == 1 { return .again(after: .zero) }
            // One of several writes violates a rule: the others must not fail with it.
            return isShared ? .apart : .giveUp(fault.fault)
        case .broken, .statementsLost:
            losses += 1
            return losses <= Self.lossLimit ? .again(after: .zero) : .giveUp(fault.fault)
        // A lock at a single statement is handled before; here the commit failed, so the blocked write of the group is unknown.
        case .blocked where isShared:
            return .apart
        case .unreachable, .late, .blocked, .unavailable, .refused:
            return .giveUp(fault.fault)
        }
    }
}

/// How transactions begin. Everything that is set is set for the transaction alone, so that it holds behind a pooler as well.
struct TransactionText: Hashable, Sendable {
    /// On one snapshot.
    let read: String
    /// As if every transaction ran alone: what the statements rely on where there is one writer holds with many, too.
    let write: String
    /// For changes of the schema: one after the other among all processes, each seeing what the one before has done.
    let alone: String

    /// The number of the lock for changes of the schema: the bytes of "clarion".
    static let lock = 0x63_6C_61_72_69_6F_6E

    /// The number of the lock that a transaction holds which conflicted in its turn.
    private static let urgency = lock + 1

    /// Ends a transaction that writes. The commit is answered when it is on the disk, whatever the server, the database or the user has
    /// as `synchronous_commit`; `remote_apply`, which waits for more, stays.
    ///
    /// What counts is the setting at the moment of the commit, so it travels with the commit. At the beginning a statement that reads
    /// it would fix the snapshot before the transaction has its turn.
    ///
    /// The first column of the only row is null if another transaction is urgent. The shared lock that finds this out is held for no
    /// longer than it takes, so that an urgent transaction does not wait for commits.
    static let commit = """
        SELECT CASE WHEN pg_catalog.pg_try_advisory_lock_shared(\(urgency)) \
        THEN pg_catalog.pg_advisory_unlock_shared(\(urgency)) END, \
        CASE WHEN pg_catalog.current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') \
        THEN pg_catalog.set_config('synchronous_commit', 'on', true) END; COMMIT
        """

    /// For the rest of a transaction: how long it waits for a lock.
    static func lockTimeout(_ limit: Duration) -> String {
        "; SET LOCAL lock_timeout = \(max(1, Int64(limit / .milliseconds(1))))"
    }

    /// For the rest of a transaction that has read nothing yet: waits until those before it in the queue are through, at most so long.
    ///
    /// The lock is one of the transaction, which a pooler leaves alone, and is given in the order in which it was asked for. No
    /// statement that reads could do this: it would see what was there before it waited, and be in the others' way again.
    static func turn(_ limit: Duration) -> String { "\(lockTimeout(limit)); LOCK TABLE \(Migration.turnTable) IN EXCLUSIVE MODE" }

    /// For a transaction that has its turn: makes the commits of all others show that it is urgent.
    static let urgent = "; SELECT pg_catalog.pg_advisory_xact_lock(\(urgency))"

    init(_ limits: PostgresLimits) {
        let statement = limits.statement.components.seconds * 1000
        // Statements are written for plans that walk an index in order. Statistics, which are missing just after a load, must not
        // talk the server into another; and what reads a whole table would make every writer of it a conflict.
        let plans = ["seqscan", "bitmapscan", "hashjoin", "mergejoin"].map { "SET LOCAL enable_\($0) = off; " }.joined()
        // A connection that is lost in the middle holds its locks no longer than this.
        let idle = "SET LOCAL idle_in_transaction_session_timeout = \(2 * statement); "
        let each = "SET LOCAL statement_timeout = \(statement); \(idle)\(plans)SET LOCAL jit = off"
        read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(each)"
        write = "BEGIN ISOLATION LEVEL SERIALIZABLE; \(each)"
        alone = """
            BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \(idle)\
            SELECT pg_advisory_xact_lock(\(Self.lock))
            """
    }
}

/// Runs one read and retries it when the connection was broken. Answers it exactly once.
struct ReadRun {
    let worker: PostgresWorker
    /// Whether others wait for locks already.
    let knowsOfLocks: Bool

    func run(_ work: any PendingWork) {
        let link = worker.context.link
        var plan = TransactionRetryPlan(deadline: link.clock.uptime + link.limits.conflict)
        while true {
            do {
                let answer = try attempt(work)
                return answer()
            } catch let fault as PostgresFault where fault.kind == .blocked {
                return worker.block(work, fault, inTurn: false)
            } catch let fault as PostgresFault {
                worker.note(fault)
                switch plan.next(after: fault, isShared: false, at: link.clock.uptime, jitter: .random(in: 0...1)) {
                case .again(let pause): worker.pause(pause)
                case .apart, .inTurn: continue
                case .giveUp(let fault): return work.fail(fault)
                }
            } catch {
                return work.fail(error)
            }
        }
    }

    private func attempt(_ work: any PendingWork) throws -> @Sendable () -> Void {
        let link = try worker.link()
        let lockTimeout = worker.lockTimeout(knowsOfLocks: knowsOfLocks)
        do {
            try link.begin(worker.context.texts.read + TransactionText.lockTimeout(lockTimeout))
            let answer = try work.perform(PostgresTransaction(link: link, unnamed: worker.sendsTexts))
            if let swallowed = link.failure { throw swallowed }
            // All rows are read, so the end of the transaction does not matter.
            link.endReading()
            return answer
        } catch {
            defer { link.rollBack() }
            throw link.failure ?? error
        }
    }
}
