import PushHub
import RichPushModel

/// The steps on device rows that several stores take.
///
/// `+hub_id` keeps an engine that knows no numbers of rows from reading the whole hub by its primary key where a handle, a
/// parent or a template says so much more.
enum DeviceRows {
    static func find(_ id: RecordID, in hub: HubID, _ connection: any SQLConnection) throws -> DeviceRow? {
        var found: DeviceRow?
        try connection.forEachRow(select, [.integer(hub.number), .text(id.text)]) { found = try DeviceRow($0) }
        return found
    }

    static func find(_ key: SliceKey, in hub: HubID, _ connection: any SQLConnection) throws -> DeviceRow? {
        var found: DeviceRow?
        try connection.forEachRow(selectByKey, [.integer(hub.number), .integer(key.number)]) { found = try DeviceRow($0) }
        return found
    }

    /// What belongs to an installation besides its native record.
    static func derived(from id: RecordID, in hub: HubID, _ connection: any SQLConnection) throws -> [DeviceRow] {
        try connection.rows(selectDerived, [.integer(hub.number), .text(id.text)]).map(DeviceRow.init)
    }

    /// Changes the index entries of a record from those of its old form to those of its new one.
    static func reindex(
        from old: DeviceRecord?, to new: DeviceRecord?, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        guard let key = (new ?? old)?.sliceKey else { return }
        let before = old?.matchingTags ?? []
        let after = new?.matchingTags ?? []
        guard before != after else { return }
        for tag in before.subtracting(after) {
            try connection.run(deleteTag, [.integer(hub.number), .text(tag.folded), .integer(key.number)])
        }
        for tag in after.subtracting(before) {
            try connection.run(insertTag, [.integer(hub.number), .text(tag.folded), .integer(key.number)])
        }
    }

    /// Removes a record and its index entries; with an installation, or with a tile, all that belongs to it.
    static func remove(_ row: DeviceRow, in hub: HubID, _ connection: any SQLConnection) throws {
        try removeAlone(row, in: hub, connection)
        for other in try dependents(of: row, in: hub, connection) { try removeAlone(other, in: hub, connection) }
    }

    static func removeAlone(_ row: DeviceRow, in hub: HubID, _ connection: any SQLConnection) throws {
        try reindex(from: row.record, to: nil, in: hub, connection)
        try connection.run(delete, [.integer(hub.number), .integer(row.record.sliceKey.number)])
        if let template = row.templateID { try TemplateRows.release(template, in: hub, connection) }
    }

    private static func dependents(of row: DeviceRow, in hub: HubID, _ connection: any SQLConnection) throws -> [DeviceRow] {
        guard row.record.kind == .installation, row.templateID == nil else { return [] }
        guard let parent = row.record.parent else { return try derived(from: row.record.id, in: hub, connection) }
        return try derived(from: parent, in: hub, connection).filter {
            $0.record.tile != nil && $0.record.tile == row.record.tile
        }
    }

    /// Removes the records that registered the handle before the moment, and the installations that they are.
    static func forget(_ forgotten: SliceCheckpoint.Forgotten, in hub: HubID, _ connection: any SQLConnection) throws {
        let rows = try connection.rows(
            selectForgotten,
            [
                .integer(hub.number), .text(forgotten.platform.rawValue), .text(forgotten.handle.text),
                .integer(forgotten.since.milliseconds),
            ])
        for row in rows { try remove(try DeviceRow(row), in: hub, connection) }
    }

    /// Parks the record, and those of its installation with the same handle, unless it has changed since.
    static func park(
        _ parked: SliceCheckpoint.Parked, at now: Timestamp, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        guard let row = try find(parked.key, in: hub, connection), row.record.version == parked.version else { return }
        let time = SQLValue.integer(now.milliseconds)
        try connection.run(park, [time, .integer(hub.number), .integer(parked.key.number)])
        guard row.record.kind == .installation, let handle = row.record.handle else { return }
        let installation = row.record.parent ?? row.record.id
        let others: [SQLValue] = [time, .integer(hub.number), .text(installation.text), .text(handle.text)]
        try connection.run(parkNative, others)
        try connection.run(parkDerived, others)
    }

    static let all = [
        insertTag, deleteTag, delete, selectForgotten, park, parkNative, parkDerived, select, selectByKey, selectDerived,
    ]

    private static let select = SQLStatement(
        composed: "SELECT \(DeviceRow.columns) FROM devices WHERE hub_id = $1 AND record_id = $2")
    private static let selectByKey = SQLStatement(
        composed: "SELECT \(DeviceRow.columns) FROM devices WHERE hub_id = $1 AND slice_key = $2")
    private static let selectDerived = SQLStatement(
        composed: "SELECT \(DeviceRow.columns) FROM devices WHERE +hub_id = $1 AND parent = $2 ORDER BY slice_key")
    private static let insertTag = SQLStatement(
        "INSERT INTO device_tags (hub_id, tag, slice_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
    private static let deleteTag = SQLStatement("DELETE FROM device_tags WHERE hub_id = $1 AND tag = $2 AND slice_key = $3")
    private static let delete = SQLStatement("DELETE FROM devices WHERE hub_id = $1 AND slice_key = $2")
    private static let selectForgotten = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND platform = $2 AND handle = $3 AND registered_at < $4
            """)
    private static let park = SQLStatement("UPDATE devices SET parked_at = $1 WHERE hub_id = $2 AND slice_key = $3")
    private static let parkNative = SQLStatement(
        "UPDATE devices SET parked_at = $1 WHERE hub_id = $2 AND record_id = $3 AND handle = $4")
    private static let parkDerived = SQLStatement(
        "UPDATE devices SET parked_at = $1 WHERE +hub_id = $2 AND parent = $3 AND handle = $4")
}
