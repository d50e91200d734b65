import PushHub
import RichPushModel

/// Which hubs there are.
public struct SQLHubStore: HubStore {
    private let database: any SQLDatabase

    /// Creates the store.
    public init(_ database: any SQLDatabase) { self.database = database }

    public func hub(named name: String) async throws -> HubID? {
        try await database.reading { try Self.find(name, $0) }
    }

    public func ensureHub(named name: String, at now: Timestamp) async throws -> HubID {
        try await database.writing { connection in
            if let found = try Self.find(name, connection) { return found }
            let id = try connection.rows(Self.insert, [.text(name), .integer(now.milliseconds)]).first?.integer(0)
            guard let id else { throw SQLFault.unexpectedColumn(0) }
            return HubID(id)
        }
    }

    /// Writes a row as it is. It is kept or it fails, which tells whether the database keeps writes.
    public func rewrite(_ hub: HubID) async throws {
        _ = try await database.writing { try $0.run(Self.rewrite, [.integer(hub.number)]) }
    }

    private static func find(_ name: String, _ connection: any SQLConnection) throws -> HubID? {
        try connection.row(select, [.text(name)]).map { HubID(try $0.integer(0)) }
    }

    static let all = [select, insert, rewrite]

    private static let select = SQLStatement("SELECT hub_id FROM hubs WHERE name = $1")
    private static let rewrite = SQLStatement("UPDATE hubs SET name = name WHERE hub_id = $1")
    private static let insert = SQLStatement(
        """
        INSERT INTO hubs (hub_id, name, created_at)
        SELECT COALESCE(MAX(hub_id), 0) + 1, CAST($1 AS TEXT), CAST($2 AS BIGINT) FROM hubs
        RETURNING hub_id
        """)
}
