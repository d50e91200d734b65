import AppBackend
import PushHub
import RichPushModel
import ServiceErrors

/// What the app backend keeps in a database.
public struct SQLBackendStore: BackendStore {
    let database: any SQLDatabase
    let accessReads: SharedReads<AccessQuestion, AccessFacts>

    /// Creates the store.
    public init(_ database: any SQLDatabase) {
        self.database = database
        accessReads = SharedReads(database) { try BackendTransaction($1).answers(to: $0) }
    }

    func reading<Result: Sendable>(_ body: @escaping @Sendable (BackendTransaction) throws -> Result) async throws -> Result {
        try await database.reading { try body(BackendTransaction($0)) }
    }

    func writing<Result: Sendable>(_ body: @escaping @Sendable (BackendTransaction) throws -> Result) async throws -> Result {
        try await database.writing { try body(BackendTransaction($0)) }
    }
}

/// One transaction on the rows of the app backend. What several calls of the store do is a function here.
struct BackendTransaction {
    private static let app = AuditRows.app

    let connection: any SQLConnection

    init(_ connection: any SQLConnection) { self.connection = connection }

    /// The rows of a statement in which `$1` is the app, and the values follow.
    func rows(_ statement: SQLStatement, _ values: any SQLConvertible...) throws -> [SQLRow] {
        try rows(statement, all: values)
    }

    func rows(_ statement: SQLStatement, all values: [any SQLConvertible]) throws -> [SQLRow] {
        try connection.rows(statement, [Self.app] + values.map(\.sqlValue))
    }

    /// The same for the first row, or `nil`.
    func row(_ statement: SQLStatement, _ values: any SQLConvertible...) throws -> SQLRow? {
        try rows(statement, all: values).first
    }

    /// The same for a statement that changes rows; returns how many.
    @discardableResult
    func run(_ statement: SQLStatement, _ values: any SQLConvertible...) throws -> Int {
        try connection.run(statement, [Self.app] + values.map(\.sqlValue))
    }
}

/// Numbers that are never used again.
extension BackendTransaction {
    /// The counters; the raw value is stored.
    enum Counter: String {
        case user, binding, content, notification
        case schedule, webhook, template, activity, channel
        case serviceKey = "service-key"
    }

    /// The next number, from 1. The row stays locked until the transaction ends, so that numbers become visible in order.
    func next(_ counter: Counter) throws -> Int64 {
        guard let row = try row(CounterSQL.count, counter.rawValue) else {
            throw SQLFault.refused(code: 0, reason: "a counter returned no number")
        }
        return try row.integer(0)
    }

    /// The last number; zero before the first.
    func last(_ counter: Counter) throws -> Int64 { try row(CounterSQL.selectLast, counter.rawValue)?.integer(0) ?? 0 }

    /// Makes `number` the last one, if that is no step back and leaves out at most `distance`. The row stays locked.
    func skip(_ counter: Counter, to number: Int64, atMost distance: Int64) throws -> Bool {
        try run(CounterSQL.insert, counter.rawValue)
        return try run(CounterSQL.skipTo, counter.rawValue, number, number - distance) > 0
    }

    /// Refuses to write for a removed user: a request that was authenticated earlier may still be running, and its rows would never be
    /// removed.
    func requireUser(_ user: UserID) throws {
        guard try row(CounterSQL.selectUser, user) == nil else { return }
        throw ServiceError(.unauthenticated, "this user was removed")
    }
}

/// A value that a statement takes as it is.
protocol SQLConvertible {
    var sqlValue: SQLValue { get }
}

extension SQLValue: SQLConvertible { var sqlValue: SQLValue { self } }
extension Int64: SQLConvertible { var sqlValue: SQLValue { .integer(self) } }
extension Int: SQLConvertible { var sqlValue: SQLValue { .integer(Int64(self)) } }
extension String: SQLConvertible { var sqlValue: SQLValue { .text(self) } }
extension [UInt8]: SQLConvertible { var sqlValue: SQLValue { .bytes(self) } }
extension Timestamp: SQLConvertible { var sqlValue: SQLValue { .integer(milliseconds) } }
extension OrderNumber: SQLConvertible { var sqlValue: SQLValue { .integer(number) } }
extension UserID: SQLConvertible { var sqlValue: SQLValue { .integer(number) } }
extension RichID: SQLConvertible { var sqlValue: SQLValue { .integer(Int64(number)) } }
extension RecordID: SQLConvertible { var sqlValue: SQLValue { .text(text) } }
extension InstallationID: SQLConvertible { var sqlValue: SQLValue { .text(text) } }
extension AudienceKey: SQLConvertible { var sqlValue: SQLValue { .text(text) } }
extension Optional: SQLConvertible where Wrapped: SQLConvertible { var sqlValue: SQLValue { map(\.sqlValue) ?? .null } }

extension SQLRow {
    func moment(_ column: Int) throws -> Timestamp { Timestamp(milliseconds: try integer(column)) }

    func optionalMoment(_ column: Int) throws -> Timestamp? {
        try optionalInteger(column).map(Timestamp.init(milliseconds:))
    }

    /// A text column in the type that it was written from. Throws `SQLFault.unexpectedColumn` for a text that no such value has.
    func parsed<Value>(_ column: Int, _ parse: (String) -> Value?) throws -> Value {
        guard let value = parse(try text(column)) else { throw SQLFault.unexpectedColumn(column) }
        return value
    }

    /// The number of a notification; `nil` outside 31 bits.
    func richID(_ column: Int) throws -> RichID? { Int32(exactly: try integer(column)).flatMap { RichID(number: $0) } }
}

extension SQLStatement {
    /// Every statement of the app backend's store.
    static let allOfBackend =
        CounterSQL.all + ofUsers + ofBindings + ofContents + ofNotifications + ofSends + ofReceipts + ofRetention + ofUserData
        + ofErasure + ofSignIns + ofKeys + ofAudit + ofTokens + ofSchedules + ofTemplates + ofWebhooks + ofConsole + ofActivities
        + ofChannels
}

private enum CounterSQL {
    static let all = [count, selectLast, insert, skipTo, selectUser]

    static let count = SQLStatement(
        """
        INSERT INTO backend_counters (app_id, name, last_number) VALUES ($1, $2, 1)
        ON CONFLICT (app_id, name) DO UPDATE SET last_number = backend_counters.last_number + 1 RETURNING last_number
        """)
    static let selectLast = SQLStatement("SELECT last_number FROM backend_counters WHERE app_id = $1 AND name = $2")
    static let insert = SQLStatement(
        "INSERT INTO backend_counters (app_id, name, last_number) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING")
    static let skipTo = SQLStatement(
        """
        UPDATE backend_counters SET last_number = $3
        WHERE app_id = $1 AND name = $2 AND last_number <= $3 AND last_number >= $4
        """)
    static let selectUser = SQLStatement("SELECT user_id FROM users WHERE app_id = $1 AND user_id = $2")
}
