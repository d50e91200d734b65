extension Migration {
    /// All tables of the first release. Databases of development versions are recognized by another name of their first step, so this
    /// name stays.
    static let firstSchema = Migration(number: 1, name: "first release") { FirstSchema($0).script }
}

/// The tables of step 1, each with its indexes, by subject: hubs, sends, app backend, nodes.
///
/// There are no foreign keys: the rows of a hub or a send that was removed go piece by piece, in short transactions.
///
/// A name says what a column holds, in every table alike. `…_at` is a moment in milliseconds since 1970. `…_order` and `order_…` are order
/// numbers. `is_…`, `allows_…`, `shares_…` and `refused` are 0 or 1. A column is NULL where there is nothing to say.
struct FirstSchema {
    /// The word of the engine for a table whose rows lie in the order of the primary key.
    let clustered: String
    let integer: String
    let text: String
    let bytes: String
    /// The type of a primary key that the engine counts up.
    let serial: String
    /// Makes the counter of order numbers.
    let orderNumbers: String

    init(_ dialect: SQLDialect) {
        (clustered, integer, text, bytes) = (dialect.clustered, dialect.integer, dialect.text, dialect.bytes)
        (serial, orderNumbers) = (dialect.serial, dialect.orderNumbers)
    }

    /// The statements of the whole step.
    var script: String { (hubTables + sendTables + backendTables + nodeTables).joined(separator: "\n") }
}
