import PushHub

/// The numbers that say what came first. They go up with marks alone, so that a record costs no write of the counter; on PostgreSQL
/// they are a sequence, which is outside of transactions and never in the way of another writer.
enum OrderNumbers {
    /// The table of SQLite and the sequence of PostgreSQL.
    static let name = "order_numbers"

    /// The first number. Moments in milliseconds are smaller until the year 2109, so that a number is never taken for a moment.
    static let first: Int64 = 1 << 42

    /// The current number, as part of a statement.
    static let current = "(SELECT last_value FROM \(name))"

    /// Takes the current number. What is committed by now has a number up to it; what begins when this is over, a larger one.
    static func mark(_ connection: any SQLConnection) throws -> OrderNumber {
        guard let row = try connection.row(connection.dialect.nextOrder, []) else {
            throw SQLFault.refused(code: 0, reason: "there are no order numbers")
        }
        return OrderNumber(try row.integer(0))
    }
}
