extension SQLDatabase {
    /// The names of all tables, in no order.
    public func tableNames() async throws -> [String] {
        try await read { connection in try connection.rows(connection.dialect.tableNames, []).map { try $0.text(0) } }
    }
}
