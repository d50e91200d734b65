import AppBackend
import PushHub
import RichPushModel
import ServiceErrors

/// The rich notifications of one app.
public struct SQLRichNotificationStore: RichNotificationStore {
    let database: any SQLDatabase
    let app: AppID
    private let accessReads: SharedReads<AccessQuestion, AccessFacts>

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
        accessReads = SharedReads(database) { try AccessQuestion.answers(to: $0, app, $1) }
    }

    public func accept(_ draft: RichNotificationDraft, at now: Timestamp) async throws -> Acceptance {
        try await database.writing { [app] connection in
            if let key = draft.idempotencyKey, let earlier = try Self.repeated(key, draft.sender, app, connection) {
                return earlier
            }
            return .accepted(try Self.insert(draft, app, at: now, connection))
        }
    }

    public func lastNumber() async throws -> Int32 {
        Int32(clamping: try await database.reading { [app] in try BackendRows.last(.notification, of: app, $0) })
    }

    public func notification(_ id: RichID) async throws -> RichNotification? {
        try await database.reading { [app] in try Self.notification(id, app, $0) }
    }

    public func accessFacts(
        about id: RichID, for user: UserID, limit: Int
    ) async throws -> AccessFacts {
        try await accessReads.answer(to: AccessQuestion(id: id, user: user, limit: limit))
    }

    public func repeated(_ key: IdempotencyKey, of user: UserID) async throws -> Acceptance? {
        try await database.reading { [app] in try Self.repeated(key, user, app, $0) }
    }

    public func push(of id: RichID) async throws -> OutgoingPush? {
        try await database.reading { [app] connection in
            guard let row = try connection.row(Self.selectPush, Self.key(id, app)) else { return nil }
            let message = PushMessage(
                body: try row.bytes(0), pushType: try row.text(1), priority: Int(try row.integer(2)),
                collapseID: try row.optionalText(3),
                expiresAt: try row.optionalInteger(4).map(Timestamp.init(milliseconds:)))
            return OutgoingPush(
                message: message, pushesPerSecond: try row.optionalInteger(6).map(Int.init), hubKey: try row.text(5))
        }
    }

    public func find(_ query: InboxQuery) async throws -> [RichNotification] {
        try await database.reading { [app] connection in
            var found: [RichNotification] = []
            for key in query.keys { Self.merge(try Self.find(query, key, app, connection), into: &found, query.limit) }
            for (key, newest) in try Self.heldKeys(query, app, connection) {
                // The keys come in the order of their newest, so no further one has anything for this page.
                if found.count == query.limit, let last = found.last, Int64(last.id.number) > newest { break }
                Self.merge(try Self.find(query, key, app, connection), into: &found, query.limit)
            }
            return found
        }
    }

    public func sends(of sender: UserID?, before: RichID?, limit: Int) async throws -> [RichNotification] {
        try await database.reading { [app] connection in
            let values: [SQLValue] = [
                .integer(app.number), .integer(before.map { Int64($0.number) } ?? .max), .integer(Int64(limit)),
            ]
            let rows =
                try sender.map { try connection.rows(Self.selectSendsOfUser, values + [.integer($0.number)]) }
                ?? connection.rows(Self.selectSends, values)
            return try rows.map(RichNotificationRows.notification)
        }
    }

    public func removeIdempotencyKeys(before moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { [app] connection in
            try connection.run(
                Self.deleteIdempotencyKeys, [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(limit))])
        }
    }
}

extension SQLRichNotificationStore {
    static func key(_ id: RichID, _ app: AppID) -> [SQLValue] { [.integer(app.number), .integer(Int64(id.number))] }

    static func notification(
        _ id: RichID, _ app: AppID, _ connection: any SQLConnection
    ) throws -> RichNotification? {
        try connection.row(select, key(id, app)).map(RichNotificationRows.notification)
    }

    /// Whether it is still there, whatever its state.
    static func exists(_ id: RichID, _ app: AppID, _ connection: any SQLConnection) throws -> Bool {
        try connection.row(selectPresence, key(id, app)) != nil
    }

    private static func repeated(
        _ key: IdempotencyKey, _ user: UserID, _ app: AppID, _ connection: any SQLConnection
    ) throws -> Acceptance? {
        let values: [SQLValue] = [.integer(app.number), .integer(user.number), .text(key.key)]
        guard let row = try connection.row(selectIdempotencyKey, values) else { return nil }
        guard try row.bytes(0) == key.digest else { return .repeatMismatch }
        guard let id = try RichNotificationRows.id(row, 1), let earlier = try notification(id, app, connection) else {
            throw ServiceError(.conflict, "the send of this Idempotency-Key is over and was removed; a new send needs a new key")
        }
        return .repeated(earlier)
    }

    /// The keys of the user's tags that lead to anything in the range asked for, and the newest number under each, newest first.
    /// One statement, however many tags there are: most lead nowhere.
    private static func heldKeys(
        _ query: InboxQuery, _ app: AppID, _ connection: any SQLConnection
    ) throws -> [(key: AudienceKey, newest: Int64)] {
        let since = query.since.map { Int64($0.number) } ?? 0
        let rows = try connection.rows(
            selectUserTags,
            [.integer(app.number), .integer(query.user.number), .integer(query.before.map { Int64($0.number) } ?? .max)])
        let held = try rows.compactMap { row -> (key: AudienceKey, newest: Int64)? in
            guard let newest = try row.optionalInteger(1), newest > since else { return nil }
            return (AudienceKey(stored: try row.text(0)), newest)
        }
        return held.sorted { $0.newest > $1.newest }
    }

    /// Keeps the newest of both.
    private static func merge(_ more: [RichNotification], into found: inout [RichNotification], _ limit: Int) {
        let known = Set(found.map(\.id))
        found += more.filter { !known.contains($0.id) }
        found = Array(found.sorted { $0.id > $1.id }.prefix(limit))
    }

    private static func find(
        _ query: InboxQuery, _ key: AudienceKey, _ app: AppID, _ connection: any SQLConnection
    ) throws -> [RichNotification] {
        // Bounds instead of nulls, because a parameter that may be null has no type of its own on every engine.
        let before = query.before.map { Int64($0.number) } ?? .max
        let values: [SQLValue] = [
            .integer(app.number), .text(key.text), .integer(before), .integer(query.since.map { Int64($0.number) } ?? 0),
            .integer(Int64(query.limit)),
        ]
        let rows =
            query.unreadOnly
            ? try connection.rows(findUnread, values + [.integer(query.user.number)]) : try connection.rows(find, values)
        return try rows.map(RichNotificationRows.notification)
    }
}

extension SQLRichNotificationStore {
    static let all =
        [
            select, selectPresence, selectPush, selectUserTags, find, findUnread, selectSends, selectSendsOfUser,
            selectIdempotencyKey,
            deleteIdempotencyKeys,
        ]
        + acceptStatements
        + workStatements

    private static let select = SQLStatement(
        composed: """
            SELECT \(RichNotificationRows.columns) FROM \(RichNotificationRows.table) WHERE n.app_id = $1 AND n.rich_id = $2
            """)
    private static let selectPresence = SQLStatement(
        "SELECT rich_id FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
    private static let selectPush = SQLStatement(
        """
        SELECT push_body, push_type, priority, collapse_id, expires_at, hub_key, pushes_per_second
        FROM rich_notifications
        WHERE app_id = $1 AND rich_id = $2
        """)
    private static let selectUserTags = SQLStatement(
        """
        SELECT t.audience_key, (
            SELECT a.rich_id FROM audience_index a
            WHERE a.app_id = t.app_id AND a.audience_key = t.audience_key AND a.rich_id < $3 ORDER BY a.rich_id DESC LIMIT 1) AS newest
        FROM user_tags t WHERE t.app_id = $1 AND t.user_id = $2
        """)
    private static let found = """
        SELECT \(RichNotificationRows.columns) FROM audience_index a \
        JOIN \(RichNotificationRows.table.replacing(
            "rich_notifications n", with: "rich_notifications n ON n.app_id = a.app_id AND n.rich_id = a.rich_id")) \
        WHERE a.app_id = $1 AND a.audience_key = $2 AND a.rich_id < $3 AND a.rich_id > $4 \
        AND n.recalled_at IS NULL AND n.refused = 0
        """
    private static let find = SQLStatement(composed: found + " ORDER BY a.rich_id DESC LIMIT $5")
    private static let findUnread = SQLStatement(
        composed: found + """
             AND NOT EXISTS (SELECT 1 FROM read_marks r \
            WHERE r.app_id = a.app_id AND r.user_id = $6 AND r.rich_id = a.rich_id) ORDER BY a.rich_id DESC LIMIT $5
            """)
    private static let someSends =
        "SELECT \(RichNotificationRows.columns) FROM \(RichNotificationRows.table) WHERE n.app_id = $1 AND n.rich_id < $2"
    private static let selectSends = SQLStatement(composed: someSends + " ORDER BY n.rich_id DESC LIMIT $3")
    private static let selectSendsOfUser = SQLStatement(
        composed: someSends + " AND n.sender_id = $4 ORDER BY n.rich_id DESC LIMIT $3")
    private static let selectIdempotencyKey = SQLStatement(
        "SELECT digest, rich_id FROM repeat_keys WHERE app_id = $1 AND user_id = $2 AND repeat_key = $3")
    private static let deleteIdempotencyKeys = SQLStatement(
        """
        DELETE FROM repeat_keys WHERE app_id = $1 AND (user_id, repeat_key) IN (
            SELECT user_id, repeat_key FROM repeat_keys WHERE app_id = $1 AND created_at < $2 ORDER BY created_at, user_id, repeat_key LIMIT $3)
        """)
}
