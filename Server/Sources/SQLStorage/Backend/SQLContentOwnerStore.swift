/// What ties a database to the bucket that keeps its contents.
public struct ContentOwner: Hashable, Sendable {
    /// By chance; the bucket has the same.
    public var mark: String
    /// Where the database lay when it got the mark. A copy of the database has the mark too, but lies elsewhere.
    public var place: String

    /// Creates an owner.
    public init(mark: String, place: String) {
        self.mark = mark
        self.place = place
    }
}

/// Keeps the mark of the bucket in the database, and finds out where a database of a server lies. Errors are `ServiceError`.
public struct SQLContentOwnerStore: Sendable {
    private let database: any SQLDatabase

    /// Creates the store.
    public init(_ database: any SQLDatabase) { self.database = database }

    /// The mark, if the database has one. An empty database has none.
    public func owner() async throws -> ContentOwner? {
        guard try await database.tableNames().contains("content_owner") else { return nil }
        return try await database.reading { try Self.owner($0) }
    }

    /// Gives the database a mark, unless it has one that it got where it is now; returns the one that counts, which is the same for all
    /// that ask at the same moment.
    public func claim(_ owner: ContentOwner) async throws -> ContentOwner {
        try await database.writing { connection in
            try connection.run(Self.insert, [.text(owner.mark), .text(owner.place)])
            return try Self.owner(connection) ?? owner
        }
    }

    /// Gives the database a mark, whatever it had.
    public func replace(by owner: ContentOwner) async throws {
        _ = try await database.writing { try $0.run(Self.upsert, [.text(owner.mark), .text(owner.place)]) }
    }

    /// Identifies a database of a server among all others, including its copies: the server's number, the database's number in it, and
    /// the schema. The first is absent where the server does not reveal it. `nil` for an engine whose databases are files.
    ///
    /// A copy of a whole server, made by copying its disk, has all three too.
    public func placeOnServer() async throws -> String? {
        guard let questions = database.dialect.place else { return nil }
        // By themselves: a question that the server does not allow ends the transaction it is in.
        let isAllowed = try await database.reading { try $0.row(questions.mayAskForServer, [])?.integer(0) == 1 }
        let server = isAllowed ? try await database.reading { try $0.row(questions.server, [])?.text(0) } : nil
        let own = try await database.reading { try $0.row(questions.database, [])?.text(0) }
        return "\(database.dialect.name) \(server ?? "-") \(own ?? "-")"
    }

    private static func owner(_ connection: any SQLConnection) throws -> ContentOwner? {
        guard let row = try connection.row(select, []) else { return nil }
        return ContentOwner(mark: try row.text(0), place: try row.text(1))
    }

    static func all(_ dialect: SQLDialect) -> [SQLStatement] {
        let questions = dialect.place.map { [$0.mayAskForServer, $0.server, $0.database] } ?? []
        return [select, insert, upsert] + questions
    }

    private static let select = SQLStatement("SELECT mark, place FROM content_owner WHERE owner_id = 1")
    private static let insert = SQLStatement(
        """
        INSERT INTO content_owner (owner_id, mark, place) VALUES (1, $1, $2)
        ON CONFLICT (owner_id) DO UPDATE SET mark = excluded.mark, place = excluded.place
        WHERE content_owner.place <> excluded.place
        """)
    private static let upsert = SQLStatement(
        """
        INSERT INTO content_owner (owner_id, mark, place) VALUES (1, $1, $2)
        ON CONFLICT (owner_id) DO UPDATE SET mark = excluded.mark, place = excluded.place
        """)
}
