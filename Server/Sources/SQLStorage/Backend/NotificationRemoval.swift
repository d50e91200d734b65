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
        left -= try connection.run(deleteKeys, key)
        left -= try connection.run(delete, key)
        for column in 0...1 {
            if let content = try contents.optionalText(column) { try release(content, app, at: now, connection) }
        }
        return limit - left
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

    static let all = [deleteReceipts, deleteReadMarks, selectContents, deleteKeys, delete, releaseContent]

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
        "SELECT content_id, thumb_id FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
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
