import AppBackend
import RichPushModel

/// Removes one notification with all that hangs on it, within the caller's transaction.
enum NotificationRemoval {
    /// Removes at most about `limit` rows, the notification itself only when nothing of it is left; returns how many rows went.
    static func run(
        _ id: Int64, _ app: AppID, at now: Timestamp, limit: Int, _ connection: any SQLConnection
    ) throws -> Int {
        let key: [SQLValue] = [.integer(app.number), .integer(id)]
        var left = limit
        for statement in [deleteReceipts, deleteReadMarks] {
            left -= try connection.run(statement, key + [.integer(Int64(left))])
            // Exactly as many as were allowed: there may be more.
            if left <= 0 { return limit }
        }
        guard let contents = try connection.row(selectContents, key) else { return limit - left }
        if let tracking = try contents.optionalText(2) { try blank(tracking, connection) }
        left -= try connection.run(deleteKeys, key)
        left -= try connection.run(delete, key)
        for column in 0...1 {
            if let content = try contents.optionalText(column) { try release(content, app, at: now, connection) }
        }
        return limit - left
    }

    /// A hub of the same database keeps the numbers of an ended send longer than its words. `nobody` stands for whom it was for.
    private static func blank(_ tracking: String, _ connection: any SQLConnection) throws {
        for hub in try connection.rows(selectHubs, []) {
            try connection.run(
                blankSend,
                [.bytes(Array("{}".utf8)), .text(PersonTraces.nobody), hub.values[0], .text(tracking)])
        }
    }

    /// A content that no notification uses any more expires now; its owner has the bytes back, and the sweeper removes it.
    static func release(_ content: String, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection) throws {
        try connection.run(releaseContent, [.integer(now.milliseconds), .integer(app.number), .text(content)])
    }

    /// The same for the contents of a notification that nobody reads any more.
    static func releaseContents(of id: RichID, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection) throws {
        let key: [SQLValue] = [.integer(app.number), .integer(Int64(id.number))]
        guard let row = try connection.row(selectContents, key) else { return }
        for column in 0...1 {
            if let content = try row.optionalText(column) { try release(content, app, at: now, connection) }
        }
    }

    static let all = [deleteReceipts, deleteReadMarks, selectContents, selectHubs, blankSend, deleteKeys, delete, releaseContent]

    private static let deleteReceipts = SQLStatement(
        """
        DELETE FROM receipts WHERE app_id = $1 AND receipt_key IN (
            SELECT receipt_key FROM receipts WHERE app_id = $1 AND rich_id = $2 LIMIT $3)
        """)
    private static let deleteReadMarks = SQLStatement(
        """
        DELETE FROM read_marks WHERE app_id = $1 AND rich_id = $2 AND user_id IN (
            SELECT user_id FROM read_marks WHERE app_id = $1 AND rich_id = $2 LIMIT $3)
        """)
    private static let selectContents = SQLStatement(
        "SELECT content_id, thumb_id, tracking_id FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
    static let selectHubs = SQLStatement("SELECT hub_id FROM hubs ORDER BY hub_id")
    private static let blankSend = SQLStatement(
        """
        UPDATE notifications SET body = $1, audience = $2, collapse_id = NULL
        WHERE hub_id = $3 AND notification_id = $4 AND ended_at IS NOT NULL
        """)
    private static let deleteKeys = SQLStatement("DELETE FROM audience_index WHERE app_id = $1 AND rich_id = $2")
    private static let delete = SQLStatement("DELETE FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
    private static let releaseContent = SQLStatement(
        """
        UPDATE contents SET expires_at = $1 WHERE app_id = $2 AND content_id = $3 AND expires_at IS NULL
            AND NOT EXISTS (
                SELECT 1 FROM rich_notifications n WHERE n.app_id = $2 AND n.recalled_at IS NULL AND n.refused = 0
                    AND n.content_id = $3)
            AND NOT EXISTS (
                SELECT 1 FROM rich_notifications n WHERE n.app_id = $2 AND n.recalled_at IS NULL AND n.refused = 0
                    AND n.thumb_id = $3)
        """)
}
