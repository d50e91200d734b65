import EngineTesting
import PushHub
import RichPushModel
import Synchronization
import TagExpressions
import Testing

@testable import SQLStorage

@Suite("What a count of an audience costs")
struct AudienceCountCostTests {
    private func count(_ audience: String?, _ database: EndlessDatabase) async throws -> AudienceCount {
        let expression = try audience.map { try TagExpression(parsing: $0) }
        return try await SQLDeviceStore(database).count(
            expression, format: .native(.apns), in: HubID(1), at: Timestamp(seconds: 1), limit: 10_000)
    }

    @Test(
        "it stops after about 100,000 entries of the index where no record is meant, and says so",
        arguments: [nil, "a", "a && !b", "a || b", (0..<20).map { "t\($0)" }.joined(separator: " || ")])
    func entries(_ audience: String?) async throws {
        let store = try await TemporaryStore()
        let database = EndlessDatabase(store.database)
        let found = try await count(audience, database)
        #expect(found == AudienceCount(targets: 0, isComplete: false))
        #expect((90_000...120_000).contains(database.entries), "\(database.entries)")
    }

    @Test("one whose caller has gone reads no page")
    func cancelled() async throws {
        let store = try await TemporaryStore()
        let database = EndlessDatabase(store.database)
        let counting = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await count("a && !b", database)
        }
        counting.cancel()
        await #expect(throws: CancellationError.self) { try await counting.value }
        #expect(database.entries == 0)
    }
}

/// A database whose walks find no target and come to no end. It counts the entries that each of them may read.
private final class EndlessDatabase: SQLDatabase {
    private let inner: any SQLDatabase
    private let read = Mutex(0)

    init(_ inner: any SQLDatabase) { self.inner = inner }

    var entries: Int { read.withLock { $0 } }
    var dialect: SQLDialect { inner.dialect }
    var lastWriteFault: String? { inner.lastWriteFault }
    func tableNames() async throws -> [String] { try await inner.tableNames() }
    func close() throws { try inner.close() }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await inner.read { [self] connection in
            try body(EndlessConnection(inner: connection, reading: { count in self.read.withLock { $0 += count } }))
        }
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await inner.write(body) }
}

private struct EndlessConnection: SQLConnection {
    let inner: any SQLConnection
    let reading: (Int) -> Void

    var dialect: SQLDialect { inner.dialect }

    /// The last four values of a walk with an end of its own: where it begins, the last key, how many targets and entries it takes.
    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        guard statement.text.contains("AS page"), case .integer(let scanned)? = values.last,
            case .integer(let after) = values[values.count - 4]
        else { return try inner.forEachRow(statement, values, body) }
        let tags = statement.text.split(separator: "(SELECT slice_key FROM device_tags").count - 1
        reading(Int(scanned) * max(1, tags))
        let end: [SQLValue] = [.integer(after + 1), .integer(0), .integer(0), .integer(AudienceStatements.Part.end)]
        try body(SQLRow(end + Array(repeating: .null, count: 4)))
    }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] { try inner.rows(statement, values) }
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int { try inner.run(statement, values) }
    func script(_ text: String) throws { try inner.script(text) }
}
