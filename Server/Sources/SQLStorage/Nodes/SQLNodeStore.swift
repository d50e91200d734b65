import RichPushModel

/// What nodes know of each other, and how one calls the others: through the database alone.
public struct SQLNodeStore: Sendable {
    /// The channel on which a node says that there may be work.
    public static let channel = "clarion_work"

    private let database: any SQLDatabase

    public init(_ database: any SQLDatabase) { self.database = database }

    /// The moment by the clock of the database, which is the one that all nodes share.
    public func time() async throws -> Timestamp {
        try await database.reading { connection in
            Timestamp(milliseconds: try connection.row(connection.dialect.clock, [])?.integer(0) ?? 0)
        }
    }

    /// Says that a node is there.
    public func announce(_ member: NodeMember) async throws {
        _ = try await database.writing { connection in
            try connection.run(
                Self.upsert,
                [
                    .text(member.id), .text(member.role), .text(member.version), .integer(member.startedAt.milliseconds),
                    .integer(member.seenAt.milliseconds), .optional(member.schemaStep.map(Int64.init)),
                ])
        }
    }

    /// Every node that was seen since the moment, by id.
    public func members(seenSince moment: Timestamp) async throws -> [NodeMember] {
        try await database.reading { connection in
            try connection.rows(Self.select, [.integer(moment.milliseconds)]).map { row in
                NodeMember(
                    id: try row.text(0), role: try row.text(1), version: try row.text(2),
                    schemaStep: try row.optionalInteger(5).map(Int.init),
                    startedAt: Timestamp(milliseconds: try row.integer(3)), seenAt: Timestamp(milliseconds: try row.integer(4)))
            }
        }
    }

    /// Forgets a node that ends in order.
    public func leave(_ id: String) async throws {
        _ = try await database.writing { try $0.run(Self.delete, [.text(id)]) }
    }

    /// Forgets nodes that were last seen before the moment.
    public func sweep(seenBefore moment: Timestamp) async throws {
        _ = try await database.writing { try $0.run(Self.deleteOld, [.integer(moment.milliseconds)]) }
    }

    /// Calls the nodes that listen: there may be work. Does nothing on an engine that has one node.
    public func call() async throws {
        guard let statement = database.dialect.call else { return }
        _ = try await database.writing { try $0.rows(statement, [.text(Self.channel)]) }
    }

    static func all(_ dialect: SQLDialect) -> [SQLStatement] {
        [upsert, select, delete, deleteOld, dialect.clock, dialect.tableNames] + [dialect.call].compactMap(\.self)
    }

    private static let upsert = SQLStatement(
        """
        INSERT INTO nodes (node_id, role, version, started_at, seen_at, schema_step) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (node_id) DO UPDATE SET role = excluded.role, version = excluded.version,
            started_at = excluded.started_at, seen_at = excluded.seen_at, schema_step = excluded.schema_step
        """)
    private static let select = SQLStatement(
        "SELECT node_id, role, version, started_at, seen_at, schema_step FROM nodes WHERE seen_at >= $1 ORDER BY node_id")
    private static let delete = SQLStatement("DELETE FROM nodes WHERE node_id = $1")
    private static let deleteOld = SQLStatement("DELETE FROM nodes WHERE seen_at < $1")
}

/// A node as the others see it.
public struct NodeMember: Hashable, Sendable {
    /// What its leases name.
    public var id: String
    /// `all`, `api` or `worker`.
    public var role: String
    /// The version of its program.
    public var version: String
    /// The last step of the schema that its program knows; absent for versions that did not say.
    public var schemaStep: Int?
    public var startedAt: Timestamp
    /// When it last said that it is there.
    public var seenAt: Timestamp

    public init(id: String, role: String, version: String, schemaStep: Int?, startedAt: Timestamp, seenAt: Timestamp) {
        self.id = id
        self.role = role
        self.version = version
        self.schemaStep = schemaStep
        self.startedAt = startedAt
        self.seenAt = seenAt
    }
}
