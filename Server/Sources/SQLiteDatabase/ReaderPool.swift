import GRDB
import NIOCore
import SQLStorage
import Synchronization

/// The connections that only read. Whoever finds one free goes to its thread at once; the others wait in line, and a thread that is
/// done goes on with the next of them, so that a read changes threads once on its way there and once on its way back.
///
/// The library's own pool changes them once more on the way there, and compiles what begins and ends a transaction every time.
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
        // As long as the library gives who only reads: another process may be mending the log after a crash.
        configuration.busyMode = .timeout(10)
        configuration.label = "clarion.reader"
        connections = try (0..<size).map { _ in try DatabaseQueue(path: path, configuration: configuration) }
        self.bound = bound
        state = Mutex(State(free: connections))
    }

    private static let closed = SQLFault.unavailable(reason: "the database is closed")

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// How many wait for a connection.
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

    /// The next in line, until nobody waits.
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

    /// Ends the connections, after the reads that go on. Who waits for one, and who comes afterwards, is told `unavailable`.
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
