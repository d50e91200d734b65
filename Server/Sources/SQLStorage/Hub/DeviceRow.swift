import PushHub
import RichPushModel

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
        "expires_at", "parked_at", "version", "slice_key", "template_id", "parent", "own_tags", "push_variables", "details",
        "order_number",
    ]

    /// Reads the columns from the start of a row.
    init(_ row: any SQLColumns) throws {
        guard let id = RecordID(try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
        guard let kind = DeviceRecord.Kind(rawValue: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        record = DeviceRecord(
            id: id, kind: kind, platform: Platform(rawValue: try row.text(2)),
            handle: try row.optionalText(3).map(DeviceHandle.init(canonical:)), environment: try row.optionalText(4),
            topic: try row.optionalText(5), tags: Self.tags(try row.text(6)), userID: try row.optionalText(7),
            createdAt: Timestamp(milliseconds: try row.integer(8)),
            registeredAt: Timestamp(milliseconds: try row.integer(9)),
            expiresAt: try row.optionalInteger(10).map(Timestamp.init(milliseconds:)),
            parkedAt: try row.optionalInteger(11).map(Timestamp.init(milliseconds:)), version: try row.integer(12),
            sliceKey: SliceKey(try row.integer(13)), parent: try row.optionalText(15).flatMap(RecordID.init),
            pushVariables: try TextMap.read(row.optionalText(17)), details: try TextMap.read(row.optionalText(18)))
        record.order = OrderNumber(try row.integer(19))
        templateID = try row.optionalInteger(14).map(TemplateID.init)
        ownTags = try row.optionalText(16).map(Self.tags) ?? []
    }

    /// Tags as one column: no tag has a comma.
    static func text(_ tags: [Tag]) -> String { tags.map(\.text).joined(separator: ",") }

    static func tags(_ text: String) -> [Tag] {
        text.utf8.split(separator: UInt8(ascii: ",")).compactMap { Tag.stored(String(Substring($0))) }
    }
}
