import AppBackend
import RichPushModel

/// What the users of one app have read.
public struct SQLReadMarkStore: ReadMarkStore {
    private let database: any SQLDatabase
    private let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func setRead(_ read: Bool, of id: RichID, for user: UserID, at now: Timestamp) async throws {
        let row: [SQLValue] = [.integer(app.number), .integer(user.number), .integer(Int64(id.number))]
        try await database.writing { [app] connection in
            guard read else {
                try connection.run(Self.delete, row)
                return
            }
            try BackendRows.requireUser(user, app, connection)
            guard try SQLRichNotificationStore.exists(id, app, connection) else { return }
            try connection.run(Self.insert, row + [.integer(now.milliseconds)])
        }
    }

    public func readMarks(among ids: [RichID], of user: UserID) async throws -> Set<RichID> {
        guard !ids.isEmpty else { return [] }
        return try await database.reading { [app] connection in
            let marked = try ids.filter { id in
                let row: [SQLValue] = [.integer(app.number), .integer(user.number), .integer(Int64(id.number))]
                return try connection.row(Self.select, row) != nil
            }
            return Set(marked)
        }
    }

    static let all = [insert, delete, select]

    private static let insert = SQLStatement(
        "INSERT INTO read_marks (app_id, user_id, rich_id, read_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
    private static let delete = SQLStatement("DELETE FROM read_marks WHERE app_id = $1 AND user_id = $2 AND rich_id = $3")
    private static let select = SQLStatement(
        "SELECT read_at FROM read_marks WHERE app_id = $1 AND user_id = $2 AND rich_id = $3")
}
