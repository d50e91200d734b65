import PushHub
import RichPushModel

/// What push services said of handles that are of no use any more.
enum FeedbackRows {
    /// Adds a row. To be called while the record is still there, since the row names its installation.
    static func add(_ feedback: DeviceFeedback, in hub: HubID, _ connection: any SQLConnection) throws {
        try connection.run(
            insert,
            [
                .integer(hub.number), .text(feedback.platform.rawValue), .text(feedback.handle.text),
                .optional(feedback.record?.text), .optional(feedback.installation?.text), .text(feedback.notification.text),
                .text(feedback.reason.rawValue), .integer(feedback.notedAt.milliseconds),
            ])
    }

    static func page(
        after number: Int64, limit: Int, in hub: HubID, _ connection: any SQLConnection
    ) throws -> [DeviceFeedback] {
        try connection.rows(select, [.integer(hub.number), .integer(number), .integer(Int64(limit))]).map(feedback)
    }

    /// The rows of one send.
    static func page(
        of id: NotificationID, after number: Int64, limit: Int, in hub: HubID, _ connection: any SQLConnection
    ) throws -> [DeviceFeedback] {
        let values: [SQLValue] = [.integer(hub.number), .text(id.text), .integer(number), .integer(Int64(limit))]
        return try connection.rows(selectOfSend, values).map(feedback)
    }

    private static func feedback(_ row: SQLRow) throws -> DeviceFeedback {
        guard let notification = NotificationID(try row.text(5)) else { throw SQLFault.unexpectedColumn(5) }
        guard let reason = DeviceFeedback.Reason(rawValue: try row.text(6)) else { throw SQLFault.unexpectedColumn(6) }
        return DeviceFeedback(
            number: try row.integer(0), platform: Platform(rawValue: try row.text(1)),
            handle: DeviceHandle(canonical: try row.text(2)), record: try row.optionalText(3).flatMap(RecordID.init),
            installation: try row.optionalText(4).flatMap(RecordID.init), notification: notification, reason: reason,
            notedAt: Timestamp(milliseconds: try row.integer(7)))
    }

    static let all = [insert, select, selectOfSend, deleteOld]

    static let deleteOld = SQLStatement(
        "DELETE FROM feedback WHERE number IN (SELECT number FROM feedback WHERE noted_at < $1 ORDER BY noted_at LIMIT $2)")
    private static let insert = SQLStatement(
        """
        INSERT INTO feedback (hub_id, platform, handle, record_id, installation_id, notification_id, reason, noted_at)
        VALUES ($1, $2, $3, $4, COALESCE($5, (
            SELECT COALESCE(parent, record_id) FROM devices
            WHERE hub_id = $1 AND record_id = $4 AND kind = 'installation')), $6, $7, $8)
        """)
    private static let select = SQLStatement(
        """
        SELECT number, platform, handle, record_id, installation_id, notification_id, reason, noted_at FROM feedback
        WHERE hub_id = $1 AND number > $2 ORDER BY number LIMIT $3
        """)
    private static let selectOfSend = SQLStatement(
        """
        SELECT number, platform, handle, record_id, installation_id, notification_id, reason, noted_at FROM feedback
        WHERE hub_id = $1 AND notification_id = $2 AND number > $3 ORDER BY number LIMIT $4
        """)
}
