import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Everything about one user of one app, and about them in the hubs of the same database.
public struct SQLPersonStore: PersonStore {
    let database: any SQLDatabase
    let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public var kinds: [String] { PersonTable.all.map(\.name) }

    public func records(
        _ kind: String, of user: UserID, after cursor: PersonValue?, limit: Int
    ) async throws -> [PersonRecord] {
        guard let table = PersonTable.all.first(where: { $0.name == kind }) else { return [] }
        let after: SQLValue =
            switch cursor {
            case .number(let number): .integer(number)
            case .text(let text): .text(text)
            case .absent, nil: table.isNumbered ? .integer(.min) : .text("")
            }
        let values: [SQLValue] = [.integer(app.number), .integer(user.number), after, .integer(Int64(limit))]
        return try await database.reading { try $0.rows(table.statement, values) }.map(table.record)
    }

    public func lockOut(_ user: UserID) async throws {
        try await database.writing { [app] connection in
            let key: [SQLValue] = [.integer(app.number), .integer(user.number)]
            try connection.run(Self.forgetPassword, key)
            try connection.run(SQLCredentialStore.deleteOfUser, key)
        }
    }

    public func devices(of user: UserID) async throws -> [RecordID] { try await records(Self.selectDevices, user) }

    private func records(_ statement: SQLStatement, _ user: UserID) async throws -> [RecordID] {
        let rows = try await database.reading { [app] in
            try $0.rows(statement, [.integer(app.number), .integer(user.number)])
        }
        return try rows.compactMap { RecordID(try $0.text(0)) }
    }

    public func notificationsToRecall(of user: User, limit: Int) async throws -> [RichID] {
        let traces = try await traces(of: user)
        return try await database.reading { [app] connection in
            var found: Set<RichID> = []
            for key in [AudienceKey.sender(user.id)] + traces.tags.map(AudienceKey.tag) {
                let rows = try connection.rows(Self.selectFound, [.integer(app.number), .text(key.text)])
                for row in rows {
                    let isOwn = try row.integer(1) == user.id.number
                    guard try isOwn || traces.areAll(of: row.text(2)), let id = try RichNotificationRows.id(row, 0) else {
                        continue
                    }
                    if try row.integer(3) != 0 { found.insert(id) }
                    if found.count == limit { return Array(found) }
                }
            }
            return Array(found)
        }
    }

    /// The tags that mean nobody but this user. A phone that others have used as well is none.
    func traces(of user: User) async throws -> PersonTraces {
        let installations = try await records(Self.selectOwnDevices, user.id).compactMap {
            InstallationID($0.text).map(Tag.installation)
        }
        return PersonTraces(tags: Set([Tag.user(user.name)] + installations))
    }

    static let all =
        [forgetPassword, selectDevices, selectOwnDevices, selectFound] + PersonTable.all.map(\.statement) + eraseStatements
        + hubStatements

    private static let forgetPassword = SQLStatement(
        """
        UPDATE users SET password_hash = NULL, credential_version = credential_version + 1 WHERE app_id = $1 AND user_id = $2
        """)
    /// A phone that changed hands belongs to whoever has it now.
    private static let selectDevices = SQLStatement(
        """
        SELECT DISTINCT b.record_id FROM bindings b WHERE b.app_id = $1 AND b.user_id = $2 AND NOT EXISTS (
            SELECT 1 FROM bindings o WHERE o.app_id = b.app_id AND o.record_id = b.record_id AND o.user_id <> b.user_id
                AND o.until_at IS NULL)
        """)
    private static let selectOwnDevices = SQLStatement(
        """
        SELECT DISTINCT b.record_id FROM bindings b WHERE b.app_id = $1 AND b.user_id = $2 AND NOT EXISTS (
            SELECT 1 FROM bindings o WHERE o.app_id = b.app_id AND o.record_id = b.record_id AND o.user_id <> b.user_id)
        """)
    private static let selectFound = SQLStatement(
        """
        SELECT n.rich_id, n.sender_id, n.audience,
            CASE WHEN n.recalled_at IS NULL OR n.work IS NOT NULL THEN 1 ELSE 0 END
        FROM audience_index a
        JOIN rich_notifications n ON n.app_id = a.app_id AND n.rich_id = a.rich_id
        WHERE a.app_id = $1 AND a.audience_key = $2 ORDER BY a.rich_id
        """)
}
