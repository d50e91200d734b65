import GRDB
import GRDBSQLite
import NIOCore
import SQLStorage
import Synchronization

/// The read-only connections. A read goes to the thread of a free connection at once; otherwise it waits in line. A thread that has
/// finished performs the next waiting read, so that each read changes threads once there and once back.
///
/// The library's own pool changes threads once more, and compiles the statements that begin and end a transaction every time.
final class ReaderPool: Sendable {
    /// Reads that go on at the same time.
    static let size = 4
    /// How many may wait; more are refused as unavailable. Far more than requests are served at a time.
    static let bound = 65_536

    /// A read that waits for a connection.
    private struct Read: Sendable {
        /// In a transaction of its own.
        let perform: @Sendable (Database) -> Void
        let fail: @Sendable (SQLFault) -> Void
    }

    private struct State {
        var free: [DatabaseQueue]
        var waiting = CircularBuffer<Read>()
        var isClosed = false
    }

    /// What becomes of a read that has just come.
    private enum Turn {
        case now(DatabaseQueue)
        case later
        case refused(SQLFault)
    }

    private let connections: [DatabaseQueue]
    private let bound: Int
    private let state: Mutex<State>

    /// Opens the connections to a file that has its log already.
    init(path: String, size: Int = ReaderPool.size, bound: Int = ReaderPool.bound) throws {
        var configuration = Configuration()
        configuration.readonly = true
        // The library's own timeout for readers: another process may be recovering the log after a crash.
        configuration.busyMode = .timeout(10)
        configuration.label = "clarion.reader"
        connections = try (0..<size).map { _ in try DatabaseQueue(path: path, configuration: configuration) }
        self.bound = bound
        state = Mutex(State(free: connections))
    }

    private static let closed = SQLFault.unavailable(reason: "the database is closed")

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// How busy the connections are.
    var load: DatabaseLoad.Pool {
        state.withLock { state in
            .init(size: connections.count, inUse: connections.count - state.free.count, waiting: state.waiting.count)
        }
    }

    func run<Result: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Result) async throws -> Result {
        // The callback form: a worker that is being stopped still has to read and to store what became of its last batch.
        try await withCheckedThrowingContinuation { continuation in
            submit(
                Read(
                    perform: { access in
                        continuation.resume(with: Swift.Result { try FaultMapping.mapped { try Self.transaction(access, body) } })
                    },
                    fail: { continuation.resume(throwing: $0) }))
        }
    }

    private func submit(_ read: Read) {
        let turn: Turn = state.withLock { state in
            guard !state.isClosed else { return .refused(Self.closed) }
            if let free = state.free.popLast() { return .now(free) }
            guard state.waiting.count < bound else { return .refused(.unavailable(reason: "too many reads wait")) }
            state.waiting.append(read)
            return .later
        }
        switch turn {
        case .now(let connection):
            connection.asyncWriteWithoutTransaction { access in
                // Closed while it was on its way.
                guard !self.isClosed else { return read.fail(Self.closed) }
                read.perform(access)
                self.goOn(with: access, of: connection)
            }
        case .later: break
        case .refused(let fault): read.fail(fault)
        }
    }

    /// Performs waiting reads in order until none is left.
    private func goOn(with access: Database, of connection: DatabaseQueue) {
        while let next = next(freeing: connection) { next.perform(access) }
    }

    private func next(freeing connection: DatabaseQueue) -> Read? {
        state.withLock { state in
            if let next = state.waiting.popFirst() { return next }
            state.free.append(connection)
            return nil
        }
    }

    /// Everything that a body reads is of one moment.
    private static func transaction<Result>(
        _ access: Database, _ body: (any SQLConnection) throws -> Result
    ) throws -> Result {
        try access.cachedStatement(sql: "BEGIN DEFERRED").execute()
        defer {
            // Nothing was written. What an error of the engine has ended already is not ended again.
            if access.isInsideTransaction { try? access.cachedStatement(sql: "COMMIT").execute() }
            if access.isInsideTransaction { try? access.execute(sql: "ROLLBACK") }
        }
        return try body(SQLiteConnection(access))
    }

    /// Closes the connections after their running reads. Waiting and later reads fail with `unavailable`.
    func close() throws {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = CircularBuffer() }
            return Array(state.waiting)
        }
        for read in waiting { read.fail(Self.closed) }
        for connection in connections { try connection.close() }
    }
}

/// Counts the pages that the engine reads for one long statement: how far it has come in a walk through the whole file.
enum PageReads {
    /// The engine reports after so many of its instructions, of which a row takes some ten.
    private static let pause: Int32 = 1_000

    /// Runs the statement and hands `report` how many bytes of pages it has read from the file, now and then.
    static func during(
        _ access: Database, report: @escaping (_ bytes: Int64) -> Void, _ work: () throws -> Void
    ) throws {
        guard let connection = access.sqliteConnection else { return try work() }
        let pageSize = try Int64.fetchOne(access, sql: "PRAGMA page_size") ?? 0
        let observer = Observer(connection) { report($0 * pageSize) }
        try withExtendedLifetime(observer) {
            sqlite3_progress_handler(
                connection, pause,
                { context in
                    if let context { Unmanaged<Observer>.fromOpaque(context).takeUnretainedValue().reportProgress() }
                    // Anything else would end the statement.
                    return 0
                }, Unmanaged.passUnretained(observer).toOpaque())
            defer { sqlite3_progress_handler(connection, 0, nil, nil) }
            try work()
        }
    }

    /// What the engine's handler calls, on the thread of the statement.
    private final class Observer {
        private let connection: OpaquePointer
        private let report: (_ pages: Int64) -> Void
        private var reported: Int64 = 0

        init(_ connection: OpaquePointer, report: @escaping (Int64) -> Void) {
            self.connection = connection
            self.report = report
            _ = pages(resets: true)
        }

        func reportProgress() {
            let pages = pages(resets: false)
            guard pages > reported else { return }
            reported = pages
            report(pages)
        }

        /// The pages that the engine did not find in its memory.
        private func pages(resets: Bool) -> Int64 {
            var (count, highest): (Int32, Int32) = (0, 0)
            sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_MISS, &count, &highest, resets ? 1 : 0)
            return Int64(count)
        }
    }
}
