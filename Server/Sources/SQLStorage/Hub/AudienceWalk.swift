import PushHub
import RichPushModel
import TagExpressions

/// Reads the next matching targets of a slice, in order of key, by one statement.
///
/// The engine leaves out what the send does not mean, and only those columns are read that sending needs.
struct AudienceWalk {
    private let send: AudienceSend
    private let shape: AudienceShape
    private let connection: any SQLConnection

    init(_ send: AudienceSend, _ connection: any SQLConnection) {
        self.send = send
        self.connection = connection
        shape = send.shape
    }

    /// Room that is made at once.
    private static let capacity = 1_000

    /// At most `limit` targets after `cursor`, for which at most about `scanLimit` records are looked at.
    func next(after cursor: SliceKey, last: SliceKey, limit: Int, scanLimit: Int) throws -> SlicePage.Walk {
        var targets = TargetPage(capacity: min(limit, Self.capacity))
        var through = cursor
        var end = last
        let own = AudienceStatements.values(
            shape, after: cursor, last: last, limit: limit, scanned: scanned(limit: limit, scanLimit: scanLimit))
        try connection.forEachRow(AudienceStatements.walk(shape), send.values(shape) + own) { row in
            let numbers = try row.integers(from: AudienceStatements.Column.numbers)
            let key = SliceKey(numbers[0])
            if numbers[3] == AudienceStatements.Part.end {
                end = key
            } else {
                try take(row, numbers, into: &targets)
                through = key
            }
        }
        if targets.count < limit { through = end }
        return SlicePage.Walk(targets: targets, through: through)
    }

    /// How many entries of the index the statement looks at: of one list it passes over so many before it stops, of several it merges so
    /// many. Where nearly each of those is a target they are as many as the page takes.
    private func scanned(limit: Int, scanLimit: Int) -> Int {
        guard shape.coverTags > 1 else { return max(scanLimit - 1, 0) }
        let isDense = shape.restTags == 0 && send.format == .native(.apns)
        return isDense ? limit : max(limit, min(scanLimit, 2 * limit))
    }

    private func take(_ row: any SQLColumns, _ numbers: SIMD4<Int64>, into targets: inout TargetPage) throws {
        let template = shape.isTemplate ? try row.optionalInteger(AudienceStatements.Column.template) : nil
        let platform = try send.platform ?? Platform(rawValue: row.text(AudienceStatements.Column.platform))
        let own = TargetPage.Numbers(
            key: SliceKey(numbers[0]), registeredAt: Timestamp(milliseconds: numbers[1]), version: numbers[2],
            template: template.map(TemplateID.init), isSkipped: numbers[3] == AudienceStatements.Part.twin)
        try targets.append(own, of: platform) { try row.appendTexts(from: AudienceStatements.Column.texts, to: &$0) }
    }
}
