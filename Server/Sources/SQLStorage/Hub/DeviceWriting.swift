import PushHub
import RichPushModel

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
        Column("parked_at") { .optional($0.record.parkedAt?.milliseconds) },
        Column("version") { .integer($0.record.version) },
        Column("own_tags") { .optional($0.ownTags.map { DeviceRow.text($0) }) },
        Column("push_variables") { .optional(try TextMap.text($0.record.pushVariables)) },
        Column("details") { .optional(try TextMap.text($0.record.details)) },
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
        ]

    static let all = [insert, refresh, replace, markShared]

    /// Whether another record has the handle and form that are written: `$16` platform, `$17` handle, `$19` form.
    private static let isShared = """
        CASE WHEN EXISTS (SELECT 1 FROM devices o WHERE +o.hub_id = $1 AND o.handle = $17 AND o.platform = $16 AND o.form = $19
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
