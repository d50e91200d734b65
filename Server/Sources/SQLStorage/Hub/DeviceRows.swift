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
        try change(old?.matchingTags ?? [], to: new?.matchingTags ?? [], entry: \.folded, [.integer(hub.number)], key, connection)
        try change(old?.indexEntries ?? [], to: new?.indexEntries ?? [], entry: \.self, [.integer(hub.number)], key, connection)
    }

    private static func change<Entry>(
        _ before: Set<Entry>, to after: Set<Entry>, entry: (Entry) -> String, _ hub: [SQLValue], _ key: SliceKey,
        _ connection: any SQLConnection
    ) throws {
        guard before != after else { return }
        for old in before.subtracting(after) {
            try connection.run(deleteTag, hub + [.text(entry(old)), .integer(key.number)])
        }
        for new in after.subtracting(before) {
            try connection.run(insertTag, hub + [.text(entry(new)), .integer(key.number)])
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

    /// Makes the record inactive unless it has changed, and the records of its installation with the same device token.
    static func deactivate(
        _ token: SliceCheckpoint.BadToken, at now: Timestamp, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        guard let row = try find(token.key, in: hub, connection), row.record.version == token.version else { return }
        let time = SQLValue.integer(now.milliseconds)
        try connection.run(deactivate, [time, .integer(hub.number), .integer(token.key.number)])
        guard row.record.kind == .installation, let handle = row.record.handle else { return }
        let installation = row.record.parent ?? row.record.id
        let others: [SQLValue] = [time, .integer(hub.number), .text(installation.text), .text(handle.text)]
        try connection.run(deactivateNative, others)
        try connection.run(deactivateDerived, others)
    }

    /// Stores the zone of a record that is as it was otherwise.
    static func settle(
        _ record: DeviceRecord, over old: DeviceRecord, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        try connection.run(
            setZone,
            [
                .integer(hub.number), .integer(record.sliceKey.number), .text(record.zone.name), .optional(record.zone.former),
                .optional(record.zone.changedAt?.milliseconds), .optional(record.zone.next),
            ])
        try reindex(from: old, to: record, in: hub, connection)
    }

    static let all = [
        setZone, insertTag, deleteTag, delete, selectForgotten, deactivate, deactivateNative, deactivateDerived, select,
        selectByKey,
        selectDerived,
    ]

    private static let select = SQLStatement(
        composed: "SELECT \(DeviceRow.columns) FROM devices WHERE hub_id = $1 AND record_id = $2")
    private static let selectByKey = SQLStatement(
        composed: "SELECT \(DeviceRow.columns) FROM devices WHERE hub_id = $1 AND slice_key = $2")
    private static let selectDerived = SQLStatement(
        composed: "SELECT \(DeviceRow.columns) FROM devices WHERE +hub_id = $1 AND parent = $2 ORDER BY slice_key")
    private static let setZone = SQLStatement(
        """
        UPDATE devices SET time_zone = $3, former_zone = $4, zone_changed_at = $5, next_zone = $6
        WHERE hub_id = $1 AND slice_key = $2
        """)
    private static let insertTag = SQLStatement(
        "INSERT INTO device_tags (hub_id, tag, slice_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
    private static let deleteTag = SQLStatement("DELETE FROM device_tags WHERE hub_id = $1 AND tag = $2 AND slice_key = $3")
    private static let delete = SQLStatement("DELETE FROM devices WHERE hub_id = $1 AND slice_key = $2")
    private static let selectForgotten = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND platform = $2 AND handle = $3 AND registered_at < $4
            """)
    private static let deactivate = SQLStatement("UPDATE devices SET inactive_at = $1 WHERE hub_id = $2 AND slice_key = $3")
    private static let deactivateNative = SQLStatement(
        "UPDATE devices SET inactive_at = $1 WHERE hub_id = $2 AND record_id = $3 AND handle = $4")
    private static let deactivateDerived = SQLStatement(
        "UPDATE devices SET inactive_at = $1 WHERE +hub_id = $2 AND parent = $3 AND handle = $4")
}

/// A device record with what only storage knows of it.
struct DeviceRow {
    /// The record; its template is filled in only by `TemplateRows`.
    var record: DeviceRecord
    var templateID: TemplateID?
    /// Of a derived record: the tags that were given to it, without those of its installation.
    var ownTags: [Tag]

    /// 0 for a native target, else the same for templates of one name; nameless ones differ by content.
    static func form(_ template: DeviceTemplate?) -> Int64 {
        guard let template else { return 0 }
        let number = template.name.map { ContentHash.number(of: [$0]) } ?? TemplateRows.id(of: template).number
        return number == 0 ? 1 : number
    }
}

extension DeviceRow {
    /// The columns in the order in which a row is read.
    static let columns = list.joined(separator: ", ")

    /// The same of a table that is called `d` in its statement.
    static let columnsOfD = list.map { "d.\($0)" }.joined(separator: ", ")

    private static let list = [
        "record_id", "kind", "platform", "handle", "environment", "topic", "tags", "user_id", "created_at", "registered_at",
        "expires_at", "inactive_at", "version", "slice_key", "template_id", "parent", "own_tags", "push_variables", "details",
        "order_number", "time_zone", "former_zone", "zone_changed_at", "next_zone", "languages",
    ]

    /// Reads the columns from the start of a row.
    init(_ row: any SQLColumns) throws {
        guard let id = RecordID(try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
        guard let kind = DeviceRecord.Kind(rawValue: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        record = DeviceRecord(
            id: id, kind: kind, platform: Platform(rawValue: try row.text(2)),
            handle: try row.optionalText(3).map(DeviceToken.init(canonical:)), environment: try row.optionalText(4),
            topic: try row.optionalText(5), tags: Self.tags(try row.text(6)), userID: try row.optionalText(7),
            createdAt: Timestamp(milliseconds: try row.integer(8)),
            registeredAt: Timestamp(milliseconds: try row.integer(9)),
            expiresAt: try row.optionalInteger(10).map(Timestamp.init(milliseconds:)),
            inactiveAt: try row.optionalInteger(11).map(Timestamp.init(milliseconds:)), version: try row.integer(12),
            sliceKey: SliceKey(try row.integer(13)), parent: try row.optionalText(15).flatMap(RecordID.init),
            pushVariables: try TextMap.read(row.optionalText(17)), details: try TextMap.read(row.optionalText(18)))
        record.order = OrderNumber(try row.integer(19))
        record.zone = DeviceZone(
            try row.text(20), former: try row.optionalText(21),
            changedAt: try row.optionalInteger(22).map(Timestamp.init(milliseconds:)), next: try row.optionalText(23))
        record.languages = LanguagePreference(stored: try row.text(24))
        templateID = try row.optionalInteger(14).map(TemplateID.init)
        ownTags = try row.optionalText(16).map(Self.tags) ?? []
    }

    /// Tags as one column: no tag has a comma.
    static func text(_ tags: [Tag]) -> String { tags.map(\.text).joined(separator: ",") }

    static func tags(_ text: String) -> [Tag] {
        text.utf8.split(separator: UInt8(ascii: ",")).compactMap { Tag.stored(String(Substring($0))) }
    }
}

/// Writes a device row so that it costs few statements: one to write, and one for each tag that changes.
struct DeviceWriting {
    let hub: HubID
    let connection: any SQLConnection

    /// Stores the record in place of the old row, or as a new one under the first free slice key from its own on; returns it
    /// as it is stored. The record has its template.
    func put(_ record: DeviceRecord, ownTags: [Tag]? = nil, over old: DeviceRow?) throws -> DeviceRecord {
        let templateID = try template(of: record, old)
        var record = record
        let row = Row(record: record, templateID: templateID, ownTags: ownTags)
        if let old {
            record.sliceKey = old.record.sliceKey
            record.order = old.record.order
            try replace(old, row)
        } else {
            (record.sliceKey, record.order) = try insert(row)
        }
        try DeviceRows.reindex(from: old?.record, to: record, in: hub, connection)
        if let before = old?.templateID, before != templateID { try TemplateRows.release(before, in: hub, connection) }
        return record
    }

    /// What is written.
    private struct Row {
        var record: DeviceRecord
        var templateID: TemplateID?
        var ownTags: [Tag]?
    }

    private func template(of record: DeviceRecord, _ old: DeviceRow?) throws -> TemplateID? {
        guard let template = record.template else { return nil }
        let id = TemplateRows.id(of: template)
        return id == old?.templateID ? id : try TemplateRows.put(template, in: hub, connection)
    }

    private func replace(_ old: DeviceRow, _ row: Row) throws {
        let key = SQLValue.integer(old.record.sliceKey.number)
        if Self.isIndexedAlike(old, row) {
            try connection.run(Self.refresh, try values(row, key: key, Self.refreshed))
        } else if try connection.row(Self.replace, try values(row, key: key, Self.written))?.integer(0) == 1 {
            try shareHandle(row)
        }
    }

    /// Whether the row stays where it is in every index of its table, so that none has to be written.
    private static func isIndexedAlike(_ old: DeviceRow, _ row: Row) -> Bool {
        old.record.handle == row.record.handle && old.record.platform == row.record.platform && old.templateID == row.templateID
            && old.record.parent == row.record.parent && old.record.expiresAt == row.record.expiresAt
            && old.record.zone == row.record.zone
    }

    private func insert(_ row: Row) throws -> (SliceKey, OrderNumber) {
        var key = row.record.sliceKey
        while true {
            let values = try values(row, key: .integer(key.number), Self.written)
            if let inserted = try connection.row(Self.insert, values) {
                if try inserted.integer(0) == 1 { try shareHandle(row) }
                return (key, OrderNumber(try inserted.integer(1)))
            }
            key = key.next
        }
    }

    private func shareHandle(_ row: Row) throws {
        guard let handle = row.record.handle else { return }
        try connection.run(
            Self.markShared,
            [
                .integer(hub.number), .text(handle.text), .text(row.record.platform.rawValue),
                .integer(DeviceRow.form(row.record.template)),
            ])
    }
}

extension DeviceWriting {
    /// A column and what is written into it.
    private struct Column: Sendable {
        let name: String
        let value: @Sendable (Row) throws -> SQLValue

        init(_ name: String, _ value: @escaping @Sendable (Row) throws -> SQLValue) {
            self.name = name
            self.value = value
        }
    }

    private func values(_ row: Row, key: SQLValue, _ columns: [Column]) throws -> [SQLValue] {
        var values: [SQLValue] = [.integer(hub.number), key]
        values.reserveCapacity(columns.count + 2)
        for column in columns { values.append(try column.value(row)) }
        return values
    }

    /// The columns in no index; `$3` and on of every statement.
    private static let refreshed: [Column] = [
        Column("kind") { .text($0.record.kind.rawValue) },
        Column("environment") { .optional($0.record.environment) },
        Column("topic") { .optional($0.record.topic) },
        Column("tags") { .text(DeviceRow.text($0.record.tags)) },
        Column("user_id") { .optional($0.record.userID) },
        Column("created_at") { .integer($0.record.createdAt.milliseconds) },
        Column("registered_at") { .integer($0.record.registeredAt.milliseconds) },
        Column("inactive_at") { .optional($0.record.inactiveAt?.milliseconds) },
        Column("version") { .integer($0.record.version) },
        Column("own_tags") { .optional($0.ownTags.map { DeviceRow.text($0) }) },
        Column("push_variables") { .optional(try TextMap.text($0.record.pushVariables)) },
        Column("details") { .optional(try TextMap.text($0.record.details)) },
        Column("languages") { .text($0.record.languages.stored) },
    ]

    /// All of them.
    private static let written: [Column] =
        refreshed + [
            Column("record_id") { .text($0.record.id.text) },
            Column("platform") { .text($0.record.platform.rawValue) },
            Column("handle") { .optional($0.record.handle?.text) },
            Column("expires_at") { .optional($0.record.expiresAt?.milliseconds) },
            Column("form") { .integer(DeviceRow.form($0.record.template)) },
            Column("template_id") { .optional($0.templateID?.number) },
            Column("parent") { .optional($0.record.parent?.text) },
            Column("time_zone") { .text($0.record.zone.name) },
            Column("former_zone") { .optional($0.record.zone.former) },
            Column("zone_changed_at") { .optional($0.record.zone.changedAt?.milliseconds) },
            Column("next_zone") { .optional($0.record.zone.next) },
        ]

    static let all = [insert, refresh, replace, markShared]

    /// Whether another record has the handle and form that are written: `$17` platform, `$18` handle, `$20` form.
    private static let isShared = """
        CASE WHEN EXISTS (SELECT 1 FROM devices o WHERE +o.hub_id = $1 AND o.handle = $18 AND o.platform = $17 AND o.form = $20
            AND o.slice_key <> $2) THEN 1 ELSE 0 END
        """
    private static let insert = SQLStatement(
        composed: """
            INSERT INTO devices (hub_id, slice_key, \(written.map(\.name).joined(separator: ", ")), order_number,
                shares_handle)
            VALUES ($1, $2, \(written.indices.map { "$\($0 + 3)" }.joined(separator: ", ")),
                \(OrderNumbers.current), \(isShared))
            ON CONFLICT (hub_id, slice_key) DO NOTHING RETURNING shares_handle, order_number
            """)
    private static let refresh = SQLStatement(
        composed: """
            UPDATE devices SET \(refreshed.indices.map { "\(refreshed[$0].name) = $\($0 + 3)" }.joined(separator: ", "))
            WHERE hub_id = $1 AND slice_key = $2
            """)
    private static let replace = SQLStatement(
        composed: """
            UPDATE devices SET \(written.indices.map { "\(written[$0].name) = $\($0 + 3)" }.joined(separator: ", ")),
                shares_handle = \(isShared)
            WHERE hub_id = $1 AND slice_key = $2 RETURNING shares_handle
            """)
    private static let markShared = SQLStatement(
        """
        UPDATE devices SET shares_handle = 1
        WHERE +hub_id = $1 AND handle = $2 AND platform = $3 AND form = $4 AND shares_handle = 0
        """)
}
