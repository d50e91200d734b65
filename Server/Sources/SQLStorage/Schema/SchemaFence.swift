import RichPushModel

/// Keeps nodes of an older version from writing to a database whose schema they would not understand.
///
/// Whoever is going to change the schema in such a way raises the fence first and waits until no older node is there. A node says what it
/// knows before it begins, looks at the fence after that and with each heartbeat, and ends when it is below. So one of the two
/// sees the other.
public struct SchemaFence: Sendable {
    private let database: any SQLDatabase

    /// The fence of a database.
    public init(_ database: any SQLDatabase) { self.database = database }

    /// The step that a node must at least know; 0 when there is no fence. The database must not be empty.
    public func oldest() async throws -> Int { try await database.reading { try Self.oldest($0) } }

    /// Raises the fence; it never comes down.
    public func raise(to step: Int) async throws {
        _ = try await database.write { try $0.run(Self.upsert, [.integer(Int64(step))]) }
    }

    /// Nodes that were seen since the moment and know fewer steps, or are so old that they do not say.
    public func nodes(below step: Int, seenSince moment: Timestamp) async throws -> [NodeMember] {
        try await SQLNodeStore(database).members(seenSince: moment).filter { ($0.schemaStep ?? 0) < step }
    }

    static func oldest(_ connection: any SQLConnection) throws -> Int {
        Int(try connection.row(select, [])?.integer(0) ?? 0)
    }

    static let all = [select, upsert]

    private static let select = SQLStatement("SELECT COALESCE(MAX(oldest_step), 0) FROM schema_fence")
    private static let upsert = SQLStatement(
        """
        INSERT INTO schema_fence (fence_id, oldest_step) VALUES (1, $1)
        ON CONFLICT (fence_id) DO UPDATE SET oldest_step = excluded.oldest_step
        WHERE schema_fence.oldest_step < excluded.oldest_step
        """)
}
