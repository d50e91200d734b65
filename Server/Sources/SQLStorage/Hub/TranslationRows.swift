import PushHub
import RichPushModel

/// The translations of sends, by their numbers from 1.
enum TranslationRows {
    static func insert(_ send: AcceptedSend, _ connection: any SQLConnection) throws {
        for (place, translation) in send.message.translations.enumerated() {
            try connection.run(
                insert,
                [
                    .integer(send.hub.number), .text(send.id.text), .integer(Int64(place) + 1), .bytes(translation.body),
                ])
        }
    }

    /// Their keys in the form that `TranslationChoice` reads; `nil` for a send without translations.
    static func keys(of send: AcceptedSend) -> String? { TranslationKey.stored(send.message.translations.map(\.key)) }

    /// The bodies that targets of a page get.
    static func bodies(
        _ numbers: Set<TemplateID>, of slice: SliceID, _ connection: any SQLConnection
    ) throws -> [TemplateID: [UInt8]] {
        var bodies: [TemplateID: [UInt8]] = [:]
        for number in numbers {
            let key: [SQLValue] = [.integer(slice.hub.number), .text(slice.notification.text), .integer(number.number)]
            bodies[number] = try connection.row(select, key)?.bytes(0)
        }
        return bodies
    }

    static let all = [insert, select, delete, deleteEnded]

    static let delete = SQLStatement("DELETE FROM notification_translations WHERE hub_id = $1 AND notification_id = $2")
    /// Those of a send that is over.
    static let deleteEnded = SQLStatement(
        """
        DELETE FROM notification_translations WHERE hub_id = $1 AND notification_id = $2 AND EXISTS (
            SELECT 1 FROM notifications n WHERE n.hub_id = $1 AND n.notification_id = $2 AND n.ended_at IS NOT NULL)
        """)
    private static let insert = SQLStatement(
        "INSERT INTO notification_translations (hub_id, notification_id, number, body) VALUES ($1, $2, $3, $4)")
    private static let select = SQLStatement(
        "SELECT body FROM notification_translations WHERE hub_id = $1 AND notification_id = $2 AND number = $3")
}
