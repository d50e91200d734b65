import AppBackend
import RichPushModel
import ServiceErrors

/// What is remembered of one user, and no more.
extension SQLBindingStore {
    /// Throws `quota-exceeded` when there is no room for another binding.
    static func requireRoom(of user: UserID, _ app: AppID, _ connection: any SQLConnection) throws {
        let limit = BindingLimits.bindings
        guard try count(countBindings, of: user, app, limit: limit, connection) < limit else {
            throw ServiceError(
                .quotaExceeded,
                "your devices changed \(limit) times; no more is remembered while notifications of that time stay")
        }
    }

    /// Throws `quota-exceeded` when the user is signed in on `devices` already.
    static func requirePlace(of user: UserID, devices: Int, _ app: AppID, _ connection: any SQLConnection) throws {
        guard try count(countDevices, of: user, app, limit: devices, connection) < devices else {
            throw ServiceError(
                .quotaExceeded, "your account is signed in on \(devices) devices, and no more may be; sign one out")
        }
    }

    /// Adds the tags of a binding that was just inserted. Throws `quota-exceeded` when they are too many even without those that
    /// open nothing.
    static func remember(
        _ tags: Set<Tag>, of user: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws {
        let key: [SQLValue] = [.integer(app.number), .integer(user.number)]
        var isNew = false
        for tag in tags where try connection.run(insertTag, key + [.text(AudienceKey.tag(tag).text)]) > 0 { isNew = true }
        guard isNew, try isOverfull(user, app, connection) else { return }
        try forgetIdleTags(of: user, app, at: now, connection)
        guard try isOverfull(user, app, connection) else { return }
        throw ServiceError(
            .quotaExceeded,
            "tags: your devices have or had \(BindingLimits.tags) different tags; use those, or wait until old ones are forgotten"
        )
    }

    /// A tag opens nothing when no notification names it and every device that had it lost it long enough ago: what is sent
    /// from now on is for devices that have it.
    private static func forgetIdleTags(
        of user: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws {
        let key: [SQLValue] = [.integer(app.number), .integer(user.number)]
        let limit = BindingLimits.bindingsWithinMargin
        let recent = try connection.rows(
            selectClosedSince, key + [.integer((now - BindingLimits.margin).milliseconds), .integer(Int64(limit + 1))])
        guard recent.count <= limit else { return }
        let kept = try Set(recent.flatMap { try binding($0).device.matchingTags.map { AudienceKey.tag($0).text } })
        for row in try connection.rows(selectIdleTags, key) where !kept.contains(try row.text(0)) {
            try connection.run(deleteTag, key + row.values)
        }
    }

    private static func isOverfull(_ user: UserID, _ app: AppID, _ connection: any SQLConnection) throws -> Bool {
        let limit = BindingLimits.tags
        return try count(countTags, of: user, app, limit: limit + 1, connection) > limit
    }

    /// Counts no further than the limit.
    private static func count(
        _ statement: SQLStatement, of user: UserID, _ app: AppID, limit: Int, _ connection: any SQLConnection
    ) throws -> Int {
        let values: [SQLValue] = [.integer(app.number), .integer(user.number), .integer(Int64(limit))]
        return Int(try connection.row(statement, values)?.integer(0) ?? 0)
    }

    static let limitStatements = [countBindings, countDevices, countTags, selectIdleTags, selectClosedSince]

    private static let countBindings = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT binding_id FROM bindings WHERE app_id = $1 AND user_id = $2 LIMIT $3) AS remembered")
    private static let countDevices = SQLStatement(
        """
        SELECT COUNT(*) FROM (
            SELECT binding_id FROM bindings WHERE app_id = $1 AND user_id = $2 AND until_at IS NULL LIMIT $3) AS held
        """)
    private static let countTags = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT audience_key FROM user_tags WHERE app_id = $1 AND user_id = $2 LIMIT $3) AS remembered")
    private static let selectClosedSince = SQLStatement(
        composed: """
            SELECT \(columns) FROM bindings
            WHERE app_id = $1 AND user_id = $2 AND (until_at IS NULL OR until_at >= $3) ORDER BY binding_id DESC LIMIT $4
            """)
    private static let selectIdleTags = SQLStatement(
        """
        SELECT t.audience_key FROM user_tags t WHERE t.app_id = $1 AND t.user_id = $2 AND NOT EXISTS (
            SELECT 1 FROM audience_index a WHERE a.app_id = t.app_id AND a.audience_key = t.audience_key)
        """)
}
