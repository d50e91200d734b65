import SQLStorage
import Synchronization
import Testing

/// SQLite and PostgreSQL as one database: every transaction runs on the first and then on the second, one after the other, and
/// each statement has to be answered alike. What differs is recorded as an issue of the test.
public final class TwinDatabase: SQLDatabase {
    private let first: any SQLDatabase
    private let second: any SQLDatabase
    private let turns = Turns()

    /// Makes one of two empty databases with the same schema.
    public init(_ first: any SQLDatabase, _ second: any SQLDatabase) {
        self.first = first
        self.second = second
    }

    public var dialect: SQLDialect { second.dialect }
    public var lastWriteFault: String? { first.lastWriteFault ?? second.lastWriteFault }
    public var load: DatabaseLoad { second.load }

    public func close() throws {
        defer { try? second.close() }
        try first.close()
    }

    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(first.read, second.read, body)
    }

    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(first.write, second.write, body)
    }

    /// Each engine is asked in its own words, so the two are not compared.
    public func tableNames() async throws -> [String] { try await first.tableNames() }

    private typealias Run<Result> = (
        @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result

    private func run<Result: Sendable>(
        _ onFirst: Run<Result>, _ onSecond: Run<Result>, _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        await turns.take()
        defer { turns.give() }
        let trace = Trace()
        let expected = await Swift.Result.of {
            try await onFirst { connection in
                trace.start()
                return try body(RecordedConnection(inner: connection, trace: trace))
            }
        }
        let found = await Swift.Result.of {
            try await onSecond { connection in
                trace.rewind()
                return try body(ComparedConnection(inner: connection, trace: trace))
            }
        }
        switch (expected, found) {
        case (.success, .success): if !trace.isUsedUp { Issue.record("PostgreSQL ran fewer statements than SQLite") }
        case (.failure(let first), .failure(let second)):
            if "\(first)" != "\(second)" { Issue.record("SQLite threw \(first), PostgreSQL \(second)") }
        case (.success, .failure(let error)): Issue.record("only PostgreSQL threw: \(error)")
        case (.failure(let error), .success): Issue.record("only SQLite threw: \(error)")
        }
        return try found.get()
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

/// One after the other, in the order of asking.
private final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
