import PushHub
import RichPushModel
import TagExpressions

/// The statements that read the targets of a page: one for each shape of an audience, and each reads a whole page.
enum AudienceStatements {
    /// The next targets of a walk in order of key.
    static func walk(_ shape: AudienceShape) -> SQLStatement { walks[shape] ?? WalkText(shape).statement }

    /// The same with an end of its own whatever the shape: it passes no more entries than its values say.
    static func boundedWalk(_ shape: AudienceShape) -> SQLStatement {
        shape.isBounded ? walk(shape) : boundedWalks[shape] ?? WalkText(shape).boundedStatement
    }

    /// The values of a walk behind those of its condition. A statement whose walk has an end of its own takes `scanned` as well.
    static func values(
        _ shape: AudienceShape, isBounded: Bool = false, after: SliceKey, last: SliceKey, limit: Int, scanned: Int
    ) -> [SQLValue] {
        let range: [SQLValue] = [.integer(after.number), .integer(last.number), .integer(Int64(limit))]
        return isBounded || shape.isBounded ? range + [.integer(Int64(scanned))] : range
    }

    /// The pending rows that are due, with their targets as they are now.
    static func due(_ shape: AudienceShape) -> SQLStatement {
        dues[shape.withLongCover] ?? DueText(shape.withLongCover).statement
    }

    static let all = Array(walks.values) + Array(boundedWalks.values) + Array(dues.values)

    private static let walks = Dictionary(
        uniqueKeysWithValues: AudienceShape.all.map { ($0, WalkText($0).statement) })
    private static let boundedWalks = Dictionary(
        uniqueKeysWithValues: AudienceShape.all.filter { !$0.isBounded }.map { ($0, WalkText($0).boundedStatement) })
    private static let dues = Dictionary(
        uniqueKeysWithValues: Set(AudienceShape.all.map(\.withLongCover)).map { ($0, DueText($0).statement) })

    /// Where the columns of a walk are in a row.
    enum Column {
        /// Four numbers: key, moment of registration, version, and a `Part`.
        static var numbers: Int { 0 }
        /// Four texts: device token, record, environment and topic.
        static var texts: Int { 4 }
        // Of native sends.
        static var languages: Int { 8 }
        // Of template sends.
        static var platform: Int { 8 }
        static var template: Int { 9 }
    }

    /// What a row of a walk is.
    enum Part {
        static var target: Int64 { 0 }
        /// A target that is counted but not sent to: an earlier record of the audience has the same device token.
        static var duplicate: Int64 { 1 }
        /// No target: its key says up to where the index was read. It counts where there are fewer targets than were asked for.
        static var end: Int64 { 2 }
    }
}

extension AudienceShape {
    /// Whether a walk ends somewhere even if it finds nothing: where few of many entries may match, or several tags are merged.
    fileprivate var isBounded: Bool { restTags > 0 || coverTags > 1 || isZoned }
}

/// The text of a walk. Behind the values of the condition stand the key after which it begins, the last key, how many targets it
/// takes, and how many index entries it looks at.
private struct WalkText {
    private let shape: AudienceShape
    private let condition: AudienceCondition
    private let after: String
    private let last: String
    private let limit: String
    private let scanned: String

    init(_ shape: AudienceShape) {
        self.shape = shape
        condition = AudienceCondition(shape: shape)
        let places = (0..<4).map { [condition] in "$\(condition.next + $0)" }
        (after, last, limit, scanned) = (places[0], places[1], places[2], places[3])
    }

    var statement: SQLStatement { SQLStatement(composed: shape.coverTags > 1 ? merged : shape.isBounded ? bounded : plain) }

    /// For a shape of one list.
    var boundedStatement: SQLStatement { SQLStatement(composed: bounded) }

    /// Every entry is of a record that is meant, but for those that no send means.
    private var plain: String {
        shape.coverTags == 0
            ? """
            SELECT \(columns) FROM devices d WHERE d.hub_id = $1 AND \(range("d")) AND \(condition.isTarget("d"))
            ORDER BY d.slice_key LIMIT \(limit)
            """
            : """
            SELECT \(columns) FROM device_tags t CROSS JOIN devices d
            WHERE t.hub_id = $1 AND t.tag = $5 AND \(range("t")) AND \(record(of: "t"))
            ORDER BY t.slice_key LIMIT \(limit)
            """
    }

    /// At most `scanned` entries, of which as many are returned as match.
    private var bounded: String {
        let (source, entries) =
            shape.coverTags == 0
            ? ("devices t WHERE t.hub_id = $1", "devices d WHERE d.hub_id = $1")
            : (
                "device_tags t WHERE t.hub_id = $1 AND t.tag = $5",
                "device_tags t CROSS JOIN devices d WHERE t.hub_id = $1 AND t.tag = $5"
            )
        let name = shape.coverTags == 0 ? "d" : "t"
        let target = shape.coverTags == 0 ? dueTarget : record(of: "t")
        let rest = condition.matchesRest(name).map { " AND \($0)" } ?? ""
        return page(
            """
            \(entries) AND \(name).slice_key > \(after) AND \(name).slice_key <= (SELECT slice_key FROM bound)\(rest) AND \(target)
            ORDER BY \(name).slice_key
            """,
            reading: """
                bound AS MATERIALIZED (SELECT COALESCE((SELECT t.slice_key FROM \(source) AND \(range("t"))
                    ORDER BY t.slice_key LIMIT 1 OFFSET \(scanned)), \(last)) AS slice_key)
                """,
            end: "slice_key", in: "bound")
    }

    /// The lowest entries of several tags, each record once: each tag gives its lowest, and the lowest of those are the lowest of all.
    private var merged: String {
        let tags = condition.coverPlaces.map { place in
            """
            SELECT slice_key FROM (SELECT slice_key FROM device_tags
                WHERE hub_id = $1 AND tag = $\(place) AND \(range("device_tags"))
                ORDER BY slice_key LIMIT \(scanned)) AS m\(place)
            """
        }
        let rest = condition.matchesRest("e").map { "\($0) AND " } ?? ""
        return page(
            "entries e CROSS JOIN devices d WHERE \(rest)\(record(of: "e")) ORDER BY e.slice_key",
            reading: """
                entries AS MATERIALIZED (SELECT slice_key FROM (\(tags.joined(separator: "\nUNION ALL "))) AS merged
                    GROUP BY slice_key ORDER BY slice_key LIMIT \(scanned))
                """,
            end: "COALESCE(CASE WHEN COUNT(*) = \(scanned) THEN MAX(slice_key) END, \(last))", in: "entries")
    }

    private func page(_ entries: String, reading source: String, end: String, in table: String) -> String {
        let texts = Array(repeating: "NULL", count: shape.isTemplate ? 6 : 5).joined(separator: ", ")
        return """
            WITH \(source)
            SELECT * FROM (SELECT \(columns) FROM \(entries) LIMIT \(limit)) AS page
            UNION ALL SELECT \(end), 0, 0, \(AudienceStatements.Part.end), \(texts) FROM \(table)
            """
    }

    private func range(_ name: String) -> String { "\(name).slice_key > \(after) AND \(name).slice_key <= \(last)" }

    /// The record of an entry. `CROSS JOIN` makes SQLite read entries first and in their order.
    private func record(of name: String) -> String {
        "d.hub_id = $1 AND d.slice_key = \(name).slice_key AND \(dueTarget)"
    }

    private var dueTarget: String {
        [condition.isTarget("d"), condition.isDue("d")].compactMap(\.self).joined(separator: " AND ")
    }

    /// All devices of a native send have the same platform, and none has a template.
    private var columns: String {
        """
        d.slice_key, d.registered_at, d.version, \(part), d.handle, d.record_id, d.environment, d.topic\
        \(shape.isTemplate ? ", d.platform, d.template_id" : ", d.languages")
        """
    }

    /// Whether an earlier record of the audience has the same device token and form. The search begins at the nearest, so that a walk
    /// over all records of a device token reads each about once, however few of them match.
    ///
    /// Bounded: behind so many records of one device token that do not match, a device may get its push twice.
    private var part: String {
        """
        CASE WHEN d.shares_handle = 1 AND EXISTS (
            SELECT 1 FROM (SELECT i.slice_key FROM devices i
                WHERE i.hub_id = $1 AND i.handle = d.handle AND i.platform = d.platform AND i.form = d.form
                    AND i.slice_key < d.slice_key
                ORDER BY i.slice_key DESC LIMIT 10000) AS i
            CROSS JOIN devices o WHERE o.hub_id = $1 AND o.slice_key = i.slice_key AND \(condition.matches("o")))
            THEN \(AudienceStatements.Part.duplicate) ELSE \(AudienceStatements.Part.target) END
        """
    }
}

/// The text for pending rows that are due. Behind the values of the condition stand notification, slice, moment and limit.
private struct DueText {
    private let condition: AudienceCondition

    init(_ shape: AudienceShape) { condition = AudienceCondition(shape: shape) }

    var statement: SQLStatement {
        SQLStatement(
            composed: """
                SELECT \(DueRows.columns), d.registered_at, d.version, d.template_id, d.platform, d.handle, d.record_id, d.environment,
                    d.topic, d.languages
                FROM (\(DueRows.due(from: condition.next))) AS p
                LEFT JOIN devices d ON d.hub_id = $1 AND d.slice_key = p.slice_key AND \(condition.matches("d"))
                ORDER BY p.not_before, p.slice_key
                """)
    }
}

/// Reads the next matching targets of a slice, in order of key, by one statement.
///
/// The engine leaves out what the send does not mean, and only those columns are read that sending needs.
struct AudienceWalk {
    private let send: SendAudience
    private let shape: AudienceShape
    private let isBounded: Bool
    private let connection: any SQLConnection

    /// A bounded walk passes no more than `scanLimit` entries of a tag in one step, also where a send means none of their records.
    init(_ send: SendAudience, isBounded: Bool = false, _ connection: any SQLConnection) {
        self.send = send
        self.isBounded = isBounded
        self.connection = connection
        shape = send.shape
    }

    /// Room that is made at once.
    private static let capacity = 1_000

    /// At most `limit` targets after `cursor`; reads about `scanLimit` records at most.
    func next(after cursor: SliceKey, last: SliceKey, limit: Int, scanLimit: Int) throws -> SlicePage.Walk {
        var targets = TargetPage(capacity: min(limit, Self.capacity))
        var choice = send.translations
        var through = cursor
        var end = last
        let own = AudienceStatements.values(
            shape, isBounded: isBounded, after: cursor, last: last, limit: limit,
            scanned: scanned(limit: limit, scanLimit: scanLimit))
        let statement = isBounded ? AudienceStatements.boundedWalk(shape) : AudienceStatements.walk(shape)
        try connection.forEachRow(statement, send.values(shape) + own) { row in
            let numbers = try row.integers(from: AudienceStatements.Column.numbers)
            let key = SliceKey(numbers[0])
            if numbers[3] == AudienceStatements.Part.end {
                end = key
            } else {
                try take(row, numbers, &choice, into: &targets)
                through = key
            }
        }
        if targets.count < limit { through = end }
        return SlicePage.Walk(targets: targets, through: through)
    }

    /// How many index entries the statement reads: of one list before it stops, of several the number that it merges. Where nearly every
    /// entry is a target, about the page limit is enough. A page of a paced send takes few targets; the minimum keeps it from passing
    /// entries that do not match in thousands of pages.
    private func scanned(limit: Int, scanLimit: Int) -> Int {
        guard shape.coverTags > 1 else { return max(scanLimit - 1, 0) }
        let isDense = shape.restTags == 0 && send.format == .native(.apns) && !shape.isZoned
        let wanted = isDense ? max(limit, Self.minimumDense) : max(2 * limit, Self.minimumMerged)
        return max(limit, min(scanLimit, wanted))
    }

    private static let minimumDense = 100
    private static let minimumMerged = 1_000

    private func take(
        _ row: any SQLColumns, _ numbers: SIMD4<Int64>, _ choice: inout TranslationChoice, into targets: inout TargetPage
    ) throws {
        let platform = try send.platform ?? Platform(rawValue: row.text(AudienceStatements.Column.platform))
        let own = TargetPage.Numbers(
            key: SliceKey(numbers[0]), registeredAt: Timestamp(milliseconds: numbers[1]), version: numbers[2],
            template: try template(row, &choice), isSkipped: numbers[3] == AudienceStatements.Part.duplicate)
        try targets.append(own, of: platform) { try row.appendTexts(from: AudienceStatements.Column.texts, to: &$0) }
    }

    private func template(_ row: any SQLColumns, _ choice: inout TranslationChoice) throws -> TemplateID? {
        if shape.isTemplate { return try row.optionalInteger(AudienceStatements.Column.template).map(TemplateID.init) }
        return choice.isNeeded ? choice.number(for: try row.text(AudienceStatements.Column.languages)) : nil
    }
}
