import PushHub
import RichPushModel

/// The handles of sends to handles, walked like records: a handle's key is its position.
enum DirectRows {
    static func insert(_ send: AcceptedSend, _ connection: any SQLConnection) throws {
        for (index, handle) in (send.recipients.handles ?? []).enumerated() {
            try connection.run(
                insert, [.integer(send.hub.number), .text(send.id.text), .integer(Int64(index) + 1), .text(handle.text)])
        }
    }

    static func walk(
        _ send: SQLSliceQueue.Send, _ slice: SliceID, after cursor: SliceKey, last: SliceKey, limit: Int,
        _ connection: any SQLConnection
    ) throws -> SlicePage.Walk {
        let rows = try connection.rows(
            select,
            [.integer(slice.hub.number), .text(slice.notification.text), .integer(cursor.number), .integer(Int64(limit))])
        let targets = try rows.map { target(send, SliceKey(try $0.integer(0)), try $0.text(1)) }
        let through = rows.count < limit ? nil : targets.last?.key
        return SlicePage.Walk(targets: targets, through: through ?? last)
    }

    static func target(_ send: SQLSliceQueue.Send, _ position: SliceKey, _ handle: String) -> TargetPage.Target {
        var platform = Platform.apns
        if case .native(let own) = send.message.format { platform = own }
        return TargetPage.Target(
            handle: DeviceHandle(canonical: handle), platform: platform, position: position.number)
    }

    static let all = [insert, select, delete]

    static let delete = SQLStatement("DELETE FROM direct_handles WHERE hub_id = $1 AND notification_id = $2")
    private static let insert = SQLStatement(
        "INSERT INTO direct_handles (hub_id, notification_id, position, handle) VALUES ($1, $2, $3, $4)")
    private static let select = SQLStatement(
        """
        SELECT position, handle FROM direct_handles WHERE hub_id = $1 AND notification_id = $2 AND position > $3
        ORDER BY position LIMIT $4
        """)
}
