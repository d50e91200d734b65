import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import TagExpressions

/// Everything about one user, and what has to be known before it is erased.
extension SQLBackendStore {
    public var userDataKinds: [String] { UserDataTable.all.map(\.name) }

    public func records(
        _ kind: String, of user: UserID, after cursor: UserDataValue?, limit: Int
    ) async throws -> [UserDataRecord] {
        guard let table = UserDataTable.all.first(where: { $0.name == kind }) else { return [] }
        let after: SQLValue =
            switch cursor {
            case .number(let number): .integer(number)
            case .text(let text): .text(text)
            case .absent, nil: table.isNumbered ? .integer(.min) : .text("")
            }
        return try await reading { try $0.rows(table.statement, user, after, limit).map(table.record) }
    }

    public func lockOut(_ user: UserID, at now: Timestamp, audit entry: AuditEntry?) async throws {
        try await writing { transaction in
            try transaction.run(UserDataSQL.forgetPassword, user, now)
            try transaction.removeSignInTokens(of: user)
            try transaction.buryIdentities(of: user, at: now)
            try transaction.removeCredentials(of: user)
            // In this transaction, so that none becomes a send after the user's sends were listed.
            try transaction.removeWaitingSchedules(of: user)
            try transaction.audit(entry)
        }
    }

    public func devices(of user: UserID) async throws -> [RecordID] {
        try await reading { try $0.rows(UserDataSQL.selectDevices, user).compactMap { RecordID(try $0.text(0)) } }
    }

    public func notificationsToRecall(of user: User, limit: Int) async throws -> [RichID] {
        let traces = try await traces(of: user)
        return try await reading { transaction in
            var found: Set<RichID> = []
            for key in traces.keys {
                for row in try transaction.rows(UserDataSQL.selectFound, key) {
                    let isOwn = try row.integer(1) == user.id.number
                    guard try isOwn || traces.areAll(of: row.text(2)), let id = try row.richID(0) else { continue }
                    if try row.integer(3) != 0 { found.insert(id) }
                    if found.count == limit { return Array(found) }
                }
            }
            return Array(found)
        }
    }

    /// What identifies this user alone. The tag of a phone with several users is no such thing.
    func traces(of user: User) async throws -> UserTraces {
        let installations = try await reading { transaction in
            try transaction.rows(UserDataSQL.selectOwnDevices, user.id).compactMap {
                InstallationID(try $0.text(0)).map(Tag.installation)
            }
        }
        return UserTraces(user: user.id, tags: Set([Tag.user(user.name)] + installations))
    }
}

/// The tags by which audiences name one user, and their removal from an audience.
struct UserTraces: Sendable {
    let user: UserID
    let tags: Set<Tag>

    /// The keys under which what they sent is found, and what names them.
    var keys: [AudienceKey] { [.sender(user)] + tags.map(AudienceKey.tag) }

    /// Replaces a removed user. No user can have this tag: `#` is in no user name.
    static let erased = "username:#erased"

    /// Whether an audience is for this user alone: every tag of it names them.
    func areAll(of audience: String) -> Bool {
        guard let expression = try? TagExpression(parsing: audience) else { return false }
        return expression.tags.allSatisfy(tags.contains)
    }

    /// The audience without the user; `nil` when it does not name them. It matches the same other users.
    func removed(from audience: String) -> String? {
        guard let expression = try? TagExpression(parsing: audience), expression.tags.contains(where: tags.contains),
            let erased = Tag(Self.erased)
        else { return nil }
        return replaced(expression, erased).description
    }

    private func replaced(_ expression: TagExpression, _ erased: Tag) -> TagExpression {
        switch expression {
        case .tag(let tag): .tag(tags.contains(tag) ? erased : tag)
        case .not(let inner): .not(replaced(inner, erased))
        case .and(let left, let right): .and(replaced(left, erased), replaced(right, erased))
        case .or(let left, let right): .or(replaced(left, erased), replaced(right, erased))
        }
    }
}

/// A table whose rows belong to one user each, as an export reads it.
private struct UserDataTable {
    let name: String
    /// Whose the row is.
    let owner: String
    /// Unique among the rows of one user.
    let key: String
    let isNumbered: Bool
    /// What an export shows besides the key. A device token is cut.
    let columns: [String]
    /// What follows the table's name where the user is found by a join.
    var join: String?

    var statement: SQLStatement {
        let row = join == nil ? "" : "e."
        return SQLStatement(
            composed: """
                SELECT \(([row + key] + columns).joined(separator: ", ")) FROM \(name) \(join ?? "")
                WHERE \(row)app_id = $1 AND \(owner) = $2 AND \(row)\(key) > $3 ORDER BY \(row)\(key) LIMIT $4
                """)
    }

    /// Every table with rows of one user each.
    static let all = [
        UserDataTable(
            name: "users", owner: "user_id", key: "user_id", isNumbered: true,
            columns: ["name", "role", "created_at", "quiet_hours"]),
        UserDataTable(
            name: "installation_credentials", owner: "user_id", key: "installation_id", isNumbered: false,
            columns: ["expires_at"]),
        UserDataTable(
            name: "bindings", owner: "user_id", key: "binding_id", isNumbered: true,
            columns: [
                "record_id", "kind", "platform", "handle", "environment", "topic", "tags", "from_at", "until_at", "sealing_key",
                "facts",
            ]),
        UserDataTable(
            name: "identities", owner: "user_id", key: "identity_key", isNumbered: false,
            columns: ["issuer", "subject", "created_at"]),
        UserDataTable(
            name: "console_sessions", owner: "user_id", key: "session_key", isNumbered: false,
            columns: ["kind", "role", "created_at", "expires_at"]),
        UserDataTable(name: "user_tags", owner: "user_id", key: "audience_key", isNumbered: false, columns: []),
        UserDataTable(
            name: "contents", owner: "owner_id", key: "content_id", isNumbered: false,
            columns: ["media_type", "byte_count", "file_name", "created_at", "expires_at"]),
        UserDataTable(
            name: "rich_notifications", owner: "sender_id", key: "rich_id", isNumbered: true,
            columns: [
                "kind", "style", "title", "subtitle", "message", "alt_text", "content_id", "thumb_id", "audience", "due_at",
                "expires_at", "completed_at", "recalled_at",
            ]),
        UserDataTable(
            name: "rich_translations", owner: "sender_id", key: "translation_id", isNumbered: true,
            columns: ["title", "subtitle", "message", "alt_text", "content_id", "thumb_id"]),
        UserDataTable(
            name: "schedules", owner: "owner_id", key: "schedule_id", isNumbered: true,
            columns: ["state", "due_at", "audience", "request", "created_at", "ended_at"]),
        UserDataTable(
            name: "activities", owner: "owner_id", key: "activity_id", isNumbered: true,
            columns: ["attributes_type", "attributes", "audience", "content", "phase", "created_at", "ended_at"]),
        UserDataTable(
            name: "channels", owner: "owner_id", key: "channel_id", isNumbered: true,
            columns: ["name", "apns_channel", "keeps_latest", "created_at", "remove_at"]),
        UserDataTable(
            name: "installation_tokens", owner: "user_id", key: "token_key", isNumbered: false,
            columns: ["record_id", "kind", "handle", "state", "activity_id", "reported_at"]),
        UserDataTable(
            name: "repeat_keys", owner: "user_id", key: "repeat_key", isNumbered: false, columns: ["rich_id", "created_at"]),
        UserDataTable(name: "read_marks", owner: "user_id", key: "rich_id", isNumbered: true, columns: ["read_at"]),
        UserDataTable(
            name: "receipts", owner: "user_id", key: "receipt_key", isNumbered: false,
            columns: ["rich_id", "installation_id", "kind", "action", "happened_at", "received_at"]),
        UserDataTable(
            name: "webhook_deliveries", owner: "u.user_id", key: "number", isNumbered: true,
            columns: ["kind", "data", "happened_at", "state"],
            join: "e JOIN users u ON u.app_id = e.app_id AND u.folded_name = e.user_name"),
        // What they did and what was done to them, since there is this user of the name. Who else acted is not theirs to know.
        UserDataTable(
            name: "audit_entries", owner: "u.user_id", key: "entry_id", isNumbered: false,
            columns: [
                "happened_at", "action", "object", "details",
                "CASE WHEN e.actor_name = u.folded_name AND e.actor_kind IN ('user', 'installation') THEN e.actor END AS actor",
            ],
            join: """
                e JOIN users u ON u.app_id = e.app_id AND e.happened_at >= u.created_at
                    AND (e.actor_name = u.folded_name AND e.actor_kind IN ('user', 'installation')
                        OR e.subject_name = u.folded_name AND e.action NOT LIKE 'key.%' AND e.action <> 'access.refused')
                """),
    ]

    /// A row as a record.
    func record(_ row: SQLRow) -> UserDataRecord {
        let fields = zip([key] + columns, row.values).map { column, value in
            (
                name: column.split(separator: " ").last.map(String.init) ?? column,
                value: Self.value(value, isToken: column == "handle")
            )
        }
        return UserDataRecord(kind: name, fields: fields)
    }

    private static func value(_ value: SQLValue, isToken: Bool) -> UserDataValue {
        switch value {
        case .integer(let number): .number(number)
        case .text(let text): .text(isToken ? "\(text.prefix(6))…" : text)
        case .null, .bytes: .absent
        }
    }
}

extension SQLStatement { static let ofUserData = UserDataSQL.all }

private enum UserDataSQL {
    static let all = [forgetPassword, selectDevices, selectOwnDevices, selectFound] + UserDataTable.all.map(\.statement)

    static let forgetPassword = SQLStatement(
        """
        UPDATE users SET password_hash = NULL, credential_version = credential_version + 1, tokens_since = $3
        WHERE app_id = $1 AND user_id = $2
        """)
    /// A phone belongs to its current user, not to an earlier one.
    static let selectDevices = SQLStatement(
        """
        SELECT DISTINCT b.record_id FROM bindings b WHERE b.app_id = $1 AND b.user_id = $2 AND NOT EXISTS (
            SELECT 1 FROM bindings o WHERE o.app_id = b.app_id AND o.record_id = b.record_id AND o.user_id <> b.user_id
                AND o.until_at IS NULL)
        """)
    static let selectOwnDevices = SQLStatement(
        """
        SELECT DISTINCT b.record_id FROM bindings b WHERE b.app_id = $1 AND b.user_id = $2 AND NOT EXISTS (
            SELECT 1 FROM bindings o WHERE o.app_id = b.app_id AND o.record_id = b.record_id AND o.user_id <> b.user_id)
        """)
    static let selectFound = SQLStatement(
        """
        SELECT n.rich_id, n.sender_id, n.audience,
            CASE WHEN n.recalled_at IS NULL OR n.work IS NOT NULL THEN 1 ELSE 0 END
        FROM audience_index a
        JOIN rich_notifications n ON n.app_id = a.app_id AND n.rich_id = a.rich_id
        WHERE a.app_id = $1 AND a.audience_key = $2 ORDER BY a.rich_id
        """)
}
