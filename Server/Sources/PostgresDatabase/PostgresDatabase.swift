import Dispatch
import Logging
import RichPushModel
import SQLStorage

/// PostgreSQL as the one store of many nodes: a bounded number of connections, each owned by a thread that runs the closures.
///
/// Nothing is connected before the first use. Writes are serializable transactions, reads see one snapshot; what others were in
/// the way of is repeated. A caller whose task is cancelled is kept waiting for a second at most, so that a
/// server that hangs does not keep a process from ending: its work may still be done. While the server is away every call fails with `SQLFault.unavailable` at once, and works again when
/// it is back.
public final class PostgresDatabase: SQLDatabase {
    public let dialect = SQLDialect.postgresql
    private let writes: WorkQueue<any PendingWork>
    private let reads: WorkQueue<any PendingWork>
    private let clock: any ServiceClock
    private let health: WriteHealth
    private let grace: Duration
    private let sizes: (readers: Int, writers: Int)

    public var lastWriteFault: String? { health.lastFault }

    public var load: DatabaseLoad {
        DatabaseLoad(reads: reads.load(of: sizes.readers), writes: writes.load(of: sizes.writers), commits: health.commits)
    }
    public var sinceLastKeptWrite: Duration? { health.sinceLastKept }

    /// Prepares the connections to a database. A pooler that is not told of is found out at the first statement it loses. Throws `SQLFault.misconfigured` on a machine without PostgreSQL's client library.
    public init(
        _ url: DatabaseURL, limits: PostgresLimits = PostgresLimits(), pooler: DatabasePooler = .session,
        clock: any ServiceClock = .system, logger: Logger = Logger(label: "clarion.database")
    ) throws {
        let library = try LibPQ.loaded()
        self.clock = clock
        grace = limits.grace
        sizes = (limits.readers, limits.writers)
        health = WriteHealth(clock: clock, logger: logger)
        writes = WorkQueue(limit: limits.waiting)
        reads = WorkQueue(limit: limits.waiting)
        let context = PostgresWorker.Context(
            link: .init(library: library, url: url, clock: clock, limits: limits, canceller: Canceller()),
            texts: TransactionText(limits), health: health, door: ServerDoor(pooler, logger: logger))
        for number in 0..<limits.writers {
            PostgresWorker.start(named: "clarion-pg-w\(number)", writes, context, writes: true)
        }
        for number in 0..<limits.readers {
            PostgresWorker.start(named: "clarion-pg-r\(number)", reads, context, writes: false)
        }
    }

    deinit { close() }

    /// Ends the connections once they have done what they hold. What is called afterwards fails with `unavailable`.
    public func close() {
        for work in writes.stop() + reads.stop() { work.fail(Self.closed) }
    }

    static let closed = SQLFault.unavailable(reason: "the database is closed")

    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(on: reads, isAlone: false, abandoned: .unavailable(reason: "the caller was cancelled"), body)
    }

    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(on: writes, isAlone: false, abandoned: .outcomeUnknown, body)
    }

    public func writeAlone<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(on: writes, isAlone: true, abandoned: .outcomeUnknown, body)
    }

    private func run<Result: Sendable>(
        on queue: WorkQueue<any PendingWork>, isAlone: Bool, abandoned: SQLFault,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        let caller = WaitingCaller<Result>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                caller.wait(continuation)
                let work = TypedWork(since: clock.uptime, isAlone: isAlone, body: body, caller: caller)
                switch queue.submit(work) {
                case .taken: break
                case .full: work.fail(SQLFault.unavailable(reason: "too many transactions wait"))
                case .stopped: work.fail(Self.closed)
                }
            }
        } onCancel: {
            DispatchQueue.global().asyncAfter(deadline: .now() + grace / .seconds(1)) { caller.answer(.failure(abandoned)) }
        }
    }
}
