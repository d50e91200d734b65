import PushHub
import RichPushModel

/// The person in the hubs of the same database. Of a hub elsewhere only devices and sends are reached, through its port.
extension SQLPersonStore {
    /// Removes every device that has a tag of the person, and takes the person out of the audiences of sends. The words of what
    /// was for them alone go too, once it has ended.
    func eraseFromHubs(_ traces: PersonTraces) async throws {
        for hub in try await database.reading({ try $0.rows(NotificationRemoval.selectHubs, []) }) {
            let id = HubID(try hub.integer(0))
            for tag in traces.tags { try await removeDevices(tag, id) }
            try await removeFromSends(traces, id)
        }
    }

    private func removeDevices(_ tag: Tag, _ hub: HubID) async throws {
        var isMore = true
        while isMore {
            isMore = try await database.writing { connection in
                let rows = try connection.rows(Self.selectTagged, [.integer(hub.number), .text(tag.folded)])
                for row in rows { try DeviceRows.remove(try DeviceRow(row), in: hub, connection) }
                return !rows.isEmpty
            }
        }
    }

    private func removeFromSends(_ traces: PersonTraces, _ hub: HubID) async throws {
        var after = ""
        while true {
            let page = try await database.reading { [after] in
                try $0.rows(Self.selectSends, [.integer(hub.number), .text(after)])
            }
            guard let last = page.last else { return }
            for row in page {
                guard let old = try row.optionalText(1), let audience = traces.removed(from: old) else { continue }
                let key: [SQLValue] = [.integer(hub.number), row.values[0]]
                let isTheirs = try traces.areAll(of: old)
                try await database.writing { connection in
                    try connection.run(Self.updateSend, [.text(audience)] + key)
                    if isTheirs { try connection.run(Self.blankEnded, [.bytes(Array("{}".utf8))] + key) }
                }
            }
            after = try last.text(0)
        }
    }

    static let hubStatements = [selectTagged, selectSends, updateSend, blankEnded, deleteFeedback, loosenFailures]

    private static let selectTagged = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columnsOfD)
            FROM device_tags t JOIN devices d ON d.hub_id = t.hub_id AND d.slice_key = t.slice_key
            WHERE t.hub_id = $1 AND t.tag = $2 LIMIT 100
            """)
    static let deleteFeedback = SQLStatement(
        """
        DELETE FROM feedback WHERE number IN (SELECT f.number FROM bindings b JOIN feedback f ON f.record_id = b.record_id
            WHERE b.app_id = $1 AND b.user_id = $2 LIMIT $3)
        """)
    /// That a target got no push stays, and no longer says which.
    static let loosenFailures = SQLStatement(
        """
        UPDATE target_failures SET record_id = NULL WHERE (hub_id, notification_id, slice, slice_key) IN (
            SELECT f.hub_id, f.notification_id, f.slice, f.slice_key
            FROM bindings b JOIN target_failures f ON f.record_id = b.record_id
            WHERE b.app_id = $1 AND b.user_id = $2 LIMIT $3)
        """)
    private static let selectSends = SQLStatement(
        """
        SELECT notification_id, audience FROM notifications
        WHERE hub_id = $1 AND notification_id > $2 ORDER BY notification_id LIMIT 500
        """)
    /// The compiled audience names the person as well; a send that is under way is compiled again.
    private static let updateSend = SQLStatement(
        "UPDATE notifications SET audience = $1, audience_query = NULL WHERE hub_id = $2 AND notification_id = $3")
    private static let blankEnded = SQLStatement(
        """
        UPDATE notifications SET body = $1, collapse_id = NULL
        WHERE hub_id = $2 AND notification_id = $3 AND ended_at IS NOT NULL
        """)
}
