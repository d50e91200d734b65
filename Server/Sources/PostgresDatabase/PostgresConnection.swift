import SQLStorage

/// A connection as storage sees it. Lives only inside a transaction's closure.
struct PostgresConnection: SQLConnection {
    let link: PostgresLink
    /// Whether statements are sent with their text each time.
    let unnamed: Bool

    var dialect: SQLDialect { .postgresql }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
        let result = try execute(statement, values)
        return try (0..<result.count).map(result.values)
    }

    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        let result = try execute(statement, values)
        for row in 0..<result.count { try body(PostgresColumns(result: result, row: row)) }
    }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        let changes = try execute(statement, values).changes
        if changes > 0 { link.noteChange() }
        return changes
    }

    /// As long as it takes: a step of the schema may lay out a large table anew.
    func script(_ text: String) throws {
        do { _ = try link.simple(text, within: nil) } catch let fault as PostgresFault { throw fault.fault }
    }

    private func execute(_ statement: SQLStatement, _ values: [SQLValue]) throws -> PostgresResult {
        guard statement.appearance.allSatisfy({ (1...values.count).contains($0) }) else {
            throw SQLFault.refused(code: 1, reason: "a value is missing")
        }
        // An engine that numbers parameters wants no value more than it has numbers.
        let needed = Array(values.prefix(statement.appearance.max() ?? 0))
        do {
            return try link.execute(statement, needed, unnamed: unnamed)
        } catch let fault as PostgresFault {
            throw fault.fault
        }
    }
}
