import PushHub
import RichPushModel

/// Who the targets of a page are, for what is decided for each user.
struct RecipientRows {
    var target: SliceKey
    var recipient: PushRecipient
    /// The stored form of the languages.
    var languages: String

    /// How many targets one statement takes. A statement has the same text for any number of them: the last is repeated.
    static let chunk = 100

    /// Those of the targets, at most `chunk`. A device that has gone since it was read is absent.
    static func read(
        _ targets: some Collection<SliceKey>, in hub: HubID, _ connection: any SQLConnection
    ) throws -> [RecipientRows] {
        guard !targets.isEmpty else { return [] }
        let keys = padded(targets.map { .integer($0.number) })
        return try connection.rows(selectTargets, [.integer(hub.number)] + keys).compactMap(RecipientRows.init)
    }

    /// That of one device.
    static func read(_ device: RecordID, in hub: HubID, _ connection: any SQLConnection) throws -> RecipientRows? {
        try connection.row(selectDevice, [.integer(hub.number), .text(device.text)]).flatMap(RecipientRows.init)
    }

    /// Puts the targets of a page into their groups. A target that has gone since stays in none.
    static func divide(
        _ page: inout SlicePage, _ split: PushSplit, _ choice: TranslationChoice, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        var (choice, choices) = (choice, [SliceKey: (group: Int, translation: TemplateID?)]())
        let keys = page.work.keys
        for start in stride(from: 0, to: keys.count, by: chunk) {
            for row in try read(keys[start..<min(start + chunk, keys.count)], in: hub, connection) {
                let group = split.group(of: row.recipient)
                choices[row.target] = (group, choice.number(for: row.languages, inGroup: group))
            }
        }
        page.isSplit = true
        page.work.divide { choices[$0] }
    }

    private init?(_ row: SQLRow) throws {
        guard let device = RecordID(try row.text(1)) else { return nil }
        target = SliceKey(try row.integer(0))
        recipient = PushRecipient(tags: DeviceRow.tags(try row.text(2)), userID: try row.optionalText(3), device: device)
        languages = try row.text(4)
    }

    static func padded(_ values: [SQLValue]) -> [SQLValue] {
        guard let last = values.last else { return [] }
        return values + Array(repeating: last, count: chunk - values.count)
    }

    static let all = [selectTargets, selectDevice]

    private static let columns = "SELECT slice_key, record_id, tags, user_id, languages FROM devices WHERE hub_id = $1 AND "
    private static let selectTargets = SQLStatement(
        composed: columns + "slice_key IN (\(SQLStatement.places(chunk, from: 2)))")
    private static let selectDevice = SQLStatement(composed: columns + "record_id = $2")
}
