import AppBackend
import PushHub
import RichPushModel
import TagExpressions

/// Rich notifications as rows.
enum RichNotificationRows {
    private static let own = [
        "rich_id", "sender_id", "sender_name", "kind", "style", "title", "subtitle", "message", "alt_text", "audience", "due_at",
        "expires_at", "completed_at", "recalled_at", "tracking_id", "refused", "start_order", "end_order",
    ]

    /// The columns in the order in which `notification` reads them.
    static let columns = (own.map { "n.\($0)" } + [ContentRows.columns(of: "c"), ContentRows.columns(of: "t")])
        .joined(separator: ", ")

    /// The table with its contents joined.
    static let table = """
        rich_notifications n LEFT JOIN contents c ON c.app_id = n.app_id AND c.content_id = n.content_id \
        LEFT JOIN contents t ON t.app_id = n.app_id AND t.content_id = n.thumb_id
        """

    /// Reads the columns from the start of a row.
    static func notification(_ row: SQLRow) throws -> RichNotification {
        guard let id = try id(row, 0) else { throw SQLFault.unexpectedColumn(0) }
        guard let senderName = UserName(try row.text(2)) else { throw SQLFault.unexpectedColumn(2) }
        guard let style = DeliveryStyle(rawValue: try row.text(4)) else { throw SQLFault.unexpectedColumn(4) }
        guard let audience = try? TagExpression(parsing: try row.text(9)) else { throw SQLFault.unexpectedColumn(9) }
        return RichNotification(
            id: id, sender: UserID(try row.integer(1)), senderName: senderName, kind: ContentKind(rawValue: try row.text(3)),
            style: style, words: try words(row), content: try ContentRows.record(row, from: own.count),
            thumb: try ContentRows.record(row, from: own.count + ContentRows.width), audience: audience,
            dueAt: Timestamp(milliseconds: try row.integer(10)), order: OrderNumber(try row.integer(16)),
            expiresAt: try moment(row, 11), completedAt: try moment(row, 12),
            endOrder: try row.optionalInteger(17).map(OrderNumber.init), recalledAt: try moment(row, 13),
            trackingID: try row.optionalText(14).flatMap { NotificationID($0) }, isRefused: try row.integer(15) != 0)
    }

    /// The number in a column; `nil` outside 31 bits.
    static func id(_ row: SQLRow, _ column: Int) throws -> RichID? {
        Int32(exactly: try row.integer(column)).flatMap { RichID(number: $0) }
    }

    private static func words(_ row: SQLRow) throws -> NotificationWords {
        NotificationWords(
            title: try row.optionalText(5), subtitle: try row.optionalText(6), message: try row.text(7),
            altText: try row.optionalText(8))
    }

    private static func moment(_ row: SQLRow, _ column: Int) throws -> Timestamp? {
        try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
    }
}
