import RichPushModel

/// Brings a database to the schema of this program, step by step, and refuses one that is further.
public struct SchemaMigrator: Sendable {
    private let migrations: [Migration]

    /// Creates a migrator.
    public init(_ migrations: [Migration] = Migration.all) { self.migrations = migrations }

    /// The number of the last step that the program knows.
    public var known: Int { migrations.last?.number ?? 0 }

    /// The step that nodes must know for the steps that are missing to run; `nil` when any may go on beside them. Throws
    /// `SQLFault.newerSchema` and `unreleasedSchema`.
    public func fence(of database: any SQLDatabase) async throws -> Int? {
        let found = try await checked(database)
        // No node serves an empty database.
        guard found > 0 else { return nil }
        return migrations.filter { $0.number > found && $0.oldestBeside > 0 }.map(\.oldestBeside).max()
    }

    /// The database's last step, if this program may use the database.
    private func checked(_ database: any SQLDatabase) async throws -> Int {
        let found = try await Self.version(of: database)
        guard found <= known else { throw SQLFault.newerSchema(found: found, known: known) }
        guard found > 0 else { return 0 }
        // A newer program is about to change the schema, or was and did not come to it.
        let oldest = try await database.read { try SchemaFence.oldest($0) }
        guard oldest <= known else { throw SQLFault.newerSchema(found: oldest, known: known) }
        return found
    }

    /// Runs the steps that are missing, each in a transaction of its own; returns their numbers. `beginning` gets each step before it
    /// runs, its place among them from 1, and how many there are. Throws `SQLFault.newerSchema` when the database knows a step that this
    /// program does not, and `unreleasedSchema`.
    @discardableResult
    public func migrate(
        _ database: any SQLDatabase, at now: Timestamp,
        beginning: (_ step: Migration, _ place: Int, _ count: Int) -> Void = { _, _, _ in }
    ) async throws -> [Int] {
        let found = try await checked(database)
        let missing = migrations.filter { $0.number > found }
        var done: [Int] = []
        for (index, migration) in missing.enumerated() {
            beginning(migration, index + 1, missing.count)
            let ran = try await database.writeAlone { connection in try Self.step(migration, connection, now) }
            if ran { done.append(migration.number) }
        }
        return done
    }

    /// Accepts a database that has exactly this program's schema, and brings one that is still empty to it: no server can run
    /// on that. Any other is left as it is. Throws `SQLFault.olderSchema`, `newerSchema` and `unreleasedSchema`.
    public func requireCurrent(_ database: any SQLDatabase, at now: Timestamp) async throws {
        let found = try await checked(database)
        guard found == known || found == 0 else { throw SQLFault.olderSchema(found: found, known: known) }
        if found == 0 { try await migrate(database, at: now) }
    }

    /// The number of the last step that a database has; 0 for an empty one. Throws `SQLFault.unreleasedSchema`.
    public static func version(of database: any SQLDatabase) async throws -> Int {
        try await database.writeAlone { connection in
            try connection.script(tableText(connection.dialect))
            return try version(connection)
        }
    }

    /// Every statement of the migrator, for the test that prepares them.
    public static let statements = [select, selectName, insert]

    private static let select = SQLStatement("SELECT COALESCE(MAX(number), 0) FROM schema_steps")
    private static let selectName = SQLStatement("SELECT name FROM schema_steps WHERE number = $1")
    private static let insert = SQLStatement("INSERT INTO schema_steps (number, name, applied_at) VALUES ($1, $2, $3)")

    /// The table with one row for each step that was run, by its number. A database that has it is one of this program.
    public static let table = "schema_steps"

    /// Its statement.
    public static func tableText(_ dialect: SQLDialect) -> String {
        """
        CREATE TABLE IF NOT EXISTS schema_steps (
            number \(dialect.integer) PRIMARY KEY, name \(dialect.text) NOT NULL, applied_at \(dialect.integer) NOT NULL)
        """
    }

    /// The same of a database that has the table of steps.
    ///
    /// Development versions before the first release counted steps of their own from 1. Their first step has another name, by which such
    /// a database is recognized: its numbers mean nothing to this program, whether they are smaller or larger.
    public static func version(_ connection: any SQLConnection) throws -> Int {
        let last = Int(try connection.row(select, [])?.integer(0) ?? 0)
        guard last > 0 else { return 0 }
        let first = Migration.firstSchema
        guard try connection.row(selectName, [.integer(Int64(first.number))])?.text(0) == first.name else {
            throw SQLFault.unreleasedSchema
        }
        return last
    }

    /// Looks again inside the transaction: another process may have been faster.
    private static func step(_ migration: Migration, _ connection: any SQLConnection, _ now: Timestamp) throws -> Bool {
        guard try version(connection) < migration.number else { return false }
        try connection.script(migration.script(connection.dialect))
        try connection.run(insert, [.integer(Int64(migration.number)), .text(migration.name), .integer(now.milliseconds)])
        return true
    }
}

/// One numbered step of the schema. A step that was released never changes again; a later step repairs what it did wrong.
public struct Migration: Sendable {
    /// From 1, without gaps.
    public let number: Int
    /// Describes the step in logs.
    public let name: String
    /// The step that a node must at least know to go on beside this one; 0 when any may. A step that an older program would write past
    /// (a column that has to be filled in, a table whose rows mean something else) names its own number.
    public let oldestBeside: Int
    /// The statements, with the dialect's words filled in.
    public let script: @Sendable (SQLDialect) -> String

    /// Creates a step.
    public init(number: Int, name: String, oldestBeside: Int = 0, script: @escaping @Sendable (SQLDialect) -> String) {
        self.number = number
        self.name = name
        self.oldestBeside = oldestBeside
        self.script = script
    }
}

extension Migration {
    /// Every step, in order.
    ///
    /// What the first release has is step 1. A change after a release is a new step at the end; Documentation/Decisions/schema-steps.md
    /// says how to write one.
    public static let all: [Migration] = [.firstSchema]
}

/// Keeps nodes of an older version from writing to a database whose schema they would not understand.
///
/// An incompatible upgrade raises the fence first and waits until no older node runs. A node stores its schema step before it begins,
/// reads the fence after that and with each heartbeat, and ends when its step is too low. So one of the two always sees the other.
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
