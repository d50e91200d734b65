import AppBackend
import RichPushModel
import ServiceErrors

extension SQLRichNotificationStore {
    /// Everything that a 2xx answer promises, in the caller's transaction.
    static func insert(
        _ draft: RichNotificationDraft, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> RichNotification {
        try BackendRows.requireUser(draft.sender, app, connection)
        for (content, field) in [(draft.contentID, "contentId"), (draft.thumbID, "thumbId")] {
            if let content { try claim(content, field, draft.sender, app, at: now, connection) }
        }
        if let asked = draft.number { try skip(to: asked, app, connection) }
        let number = try BackendRows.next(.notification, of: app, connection)
        guard let id = Int32(exactly: number).flatMap({ RichID(number: $0) }) else {
            throw ServiceError(.quotaExceeded, "the numbers of rich notifications are used up")
        }
        // After the number, whose row stays locked: so both are in one order.
        let order = try OrderNumbers.mark(connection)
        try connection.run(insertOne, values(draft, id, app, now) + [.integer(order.number)])
        for key in AudienceKey.keys(of: draft.audience).union([.sender(draft.sender)]) {
            try connection.run(insertKey, [.integer(app.number), .text(key.text), .integer(number)])
        }
        if let key = draft.idempotencyKey {
            try connection.run(
                insertIdempotencyKey,
                [
                    .integer(app.number), .integer(draft.sender.number), .text(key.key), .bytes(key.digest),
                    .integer(number), .integer(now.milliseconds),
                ])
        }
        guard let stored = try notification(id, app, connection) else {
            throw SQLFault.refused(code: 0, reason: "an inserted row is missing")
        }
        return stored
    }

    /// Makes the number that was asked for the next one.
    private static func skip(to number: RichID, _ app: AppID, _ connection: any SQLConnection) throws {
        let isNear = try BackendRows.skip(
            .notification, to: Int64(number.number) - 1, atMost: Int64(NumberAhead.limit) - 1, of: app, connection)
        guard isNear else {
            throw ServiceError(.conflict, "id: other sends were faster; ask for a number and seal the envelope again")
        }
    }

    /// A content that was sent does not expire by itself any more.
    private static func claim(
        _ content: String, _ field: String, _ owner: UserID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection
    ) throws {
        let claimed = try connection.run(
            claimContent,
            [.integer(app.number), .text(content), .integer(owner.number), .integer(now.milliseconds)])
        guard claimed > 0 else { throw ServiceError(.notFound, "\(field): there is no such content of yours") }
    }

    /// The upkeep takes the work over only when the request that made it has had time to do it itself.
    private static let handOverTime: Duration = .seconds(30)

    private static func values(
        _ draft: RichNotificationDraft, _ id: RichID, _ app: AppID, _ now: Timestamp
    ) -> [SQLValue] {
        let push = draft.push.message(for: id)
        return [
            .integer(app.number), .integer(Int64(id.number)), .integer(draft.sender.number), .text(draft.senderName.text),
            .text(draft.kind.rawValue), .text(draft.style.rawValue), .optional(draft.words.title),
            .optional(draft.words.subtitle), .text(draft.words.message), .optional(draft.words.altText),
            .optional(draft.contentID), .optional(draft.thumbID), .text(draft.audience.description),
            .integer(now.milliseconds), .optional(draft.expiresAt?.milliseconds), .bytes(push.body),
            .text(push.pushType ?? "alert"), .integer(Int64(push.priority ?? 10)), .optional(push.collapseID),
            .text("rich:\(id):\(draft.nonce)"), .text(OutboxWork.Task.send.rawValue),
            .integer((now + handOverTime).milliseconds), .optional(draft.pushesPerSecond.map(Int64.init)),
        ]
    }

    static let acceptStatements = [claimContent, insertOne, insertKey, insertIdempotencyKey]

    private static let claimContent = SQLStatement(
        """
        UPDATE contents SET expires_at = NULL
        WHERE app_id = $1 AND content_id = $2 AND owner_id = $3 AND (expires_at IS NULL OR expires_at > $4)
        """)
    private static let insertOne = SQLStatement(
        """
        INSERT INTO rich_notifications
            (app_id, rich_id, sender_id, sender_name, kind, style, title, subtitle, message, alt_text, content_id, thumb_id,
             audience, due_at, expires_at, push_body, push_type, priority, collapse_id, hub_key, work, work_at,
             pushes_per_second, start_order, refused)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
            $23, $24, 0)
        """)
    private static let insertKey = SQLStatement(
        "INSERT INTO audience_index (app_id, audience_key, rich_id) VALUES ($1, $2, $3)")
    private static let insertIdempotencyKey = SQLStatement(
        """
        INSERT INTO repeat_keys (app_id, user_id, repeat_key, digest, rich_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)
        """)
}
