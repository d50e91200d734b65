import PushHub
import RichPushModel

/// Device records as rows, and the steps on them that several stores take.
enum DeviceRows {
    /// The columns in the order in which `record` reads them.
    static let columns = """
        record_id, kind, platform, handle, environment, topic, tags, user_id, created_at, registered_at, expires_at, parked_at, \
        version, slice_key
        """

    /// Reads the columns from the start of a row.
    static func record(_ row: SQLRow) throws -> DeviceRecord {
        guard let id = RecordID(try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
        guard let kind = DeviceRecord.Kind(rawValue: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return DeviceRecord(
            id: id, kind: kind, platform: Platform(rawValue: try row.text(2)),
            handle: try row.optionalText(3).map(DeviceHandle.init(canonical:)), environment: try row.optionalText(4),
            topic: try row.optionalText(5), tags: tags(try row.text(6)), userID: try row.optionalText(7),
            createdAt: Timestamp(milliseconds: try row.integer(8)), registeredAt: Timestamp(milliseconds: try row.integer(9)),
            expiresAt: try row.optionalInteger(10).map(Timestamp.init(milliseconds:)),
            parkedAt: try row.optionalInteger(11).map(Timestamp.init(milliseconds:)), version: try row.integer(12),
            sliceKey: SliceKey(try row.integer(13)))
    }

    /// Tags as one column: no tag has a comma.
    static func text(_ tags: [Tag]) -> String { tags.map(\.text).joined(separator: ",") }

    private static func tags(_ text: String) -> [Tag] { text.split(separator: ",").compactMap { Tag.stored(String($0)) } }

    /// Changes the index entries of a record from those of its old form to those of its new one.
    static func reindex(
        from old: DeviceRecord?, to new: DeviceRecord?, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        guard let key = (new ?? old)?.sliceKey else { return }
        let before = old?.matchingTags ?? []
        let after = new?.matchingTags ?? []
        for tag in before.subtracting(after) {
            try connection.run(deleteTag, [.integer(hub.number), .text(tag.folded), .integer(key.number)])
        }
        for tag in after.subtracting(before) {
            try connection.run(insertTag, [.integer(hub.number), .text(tag.folded), .integer(key.number)])
        }
    }

    /// Removes a record and its index entries.
    static func remove(_ record: DeviceRecord, in hub: HubID, _ connection: any SQLConnection) throws {
        try reindex(from: record, to: nil, in: hub, connection)
        try connection.run(delete, [.integer(hub.number), .integer(record.sliceKey.number)])
    }

    /// Removes the records that registered the handle before the moment.
    static func forget(_ forgotten: SliceCheckpoint.Forgotten, in hub: HubID, _ connection: any SQLConnection) throws {
        let rows = try connection.rows(
            selectForgotten,
            [
                .integer(hub.number), .text(forgotten.platform.rawValue), .text(forgotten.handle.text),
                .integer(forgotten.since.milliseconds),
            ])
        for row in rows { try remove(try record(row), in: hub, connection) }
    }

    /// Parks the record unless it has changed since.
    static func park(
        _ parked: SliceCheckpoint.Parked, at now: Timestamp, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        try connection.run(
            park,
            [.integer(now.milliseconds), .integer(hub.number), .integer(parked.key.number), .integer(parked.version)])
    }

    static let all = [insertTag, deleteTag, delete, selectForgotten, park]

    private static let insertTag = SQLStatement(
        "INSERT INTO device_tags (hub_id, tag, slice_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
    private static let deleteTag = SQLStatement("DELETE FROM device_tags WHERE hub_id = $1 AND tag = $2 AND slice_key = $3")
    private static let delete = SQLStatement("DELETE FROM devices WHERE hub_id = $1 AND slice_key = $2")
    private static let selectForgotten = SQLStatement(
        composed: """
            SELECT \(columns) FROM devices WHERE hub_id = $1 AND platform = $2 AND handle = $3 AND registered_at < $4
            """)
    private static let park = SQLStatement(
        "UPDATE devices SET parked_at = $1 WHERE hub_id = $2 AND slice_key = $3 AND version = $4")
}
