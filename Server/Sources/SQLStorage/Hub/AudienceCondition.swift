import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// What statements distinguish of an audience. There are few shapes, because every connection keeps each statement prepared: a list of
/// tags is filled up with its last one until it has one of these lengths.
struct AudienceShape: Hashable {
    /// 0 where the cover is every record.
    let coverTags: Int
    /// 0 where nothing is left to compare.
    let restTags: Int
    let isTemplate: Bool
    /// Whether only those are meant that are due at one moment of a send by local time.
    let isZoned: Bool

    private static let coverLengths = [0, 1, 2, 4, 8, TagExpressionLimits.tagsInAlternatives]
    private static let restLengths = [0, 1, 2, 3, TagExpressionLimits.tags]
    private static let zonedRestLengths = [0, 1, TagExpressionLimits.tags]

    private init(coverTags: Int, restTags: Int, isTemplate: Bool, isZoned: Bool = false) {
        (self.coverTags, self.restTags, self.isTemplate, self.isZoned) = (coverTags, restTags, isTemplate, isZoned)
    }

    init(_ query: AudienceQuery, _ format: SendFormat, isZoned: Bool) {
        self.isZoned = isZoned
        let cover = if case .tags(let tags) = query.cover { tags.count } else { 0 }
        let rest = query.rest?.tags.count ?? 0
        coverTags = Self.coverLengths.first { $0 >= cover } ?? cover
        restTags = (isZoned ? Self.zonedRestLengths : Self.restLengths).first { $0 >= rest } ?? rest
        isTemplate = format == .template
    }

    /// The same with as long a cover as there is, and in every zone: for statements that only ask whether a record has one of its tags.
    var withLongCover: AudienceShape {
        AudienceShape(coverTags: min(coverTags, 1) * (Self.coverLengths.last ?? 0), restTags: restTags, isTemplate: isTemplate)
    }

    /// Every shape that a query can have.
    static let all: [AudienceShape] = coverLengths.flatMap { cover in
        // More tags than this are joined by || alone.
        let isLong = cover == TagExpressionLimits.tagsInAlternatives
        let common = restLengths.filter { $0 == 0 || !isLong }.flatMap { rest in
            [false, true].map { AudienceShape(coverTags: cover, restTags: rest, isTemplate: $0) }
        }
        // Twenty zones may cover an audience of which something is left to compare.
        return common
            + zonedRestLengths.map { AudienceShape(coverTags: cover, restTags: $0, isTemplate: false, isZoned: true) }
    }
}

/// Which records a send means: the one definition, as a condition on a row of `devices`. The walk, another try of a push and the
/// search for records with the same device token use it.
///
/// Its values are `$1` and on of a statement: hub, order number of the send, now, platform, the tags of the cover, and the table and the
/// tags of the rest. Of a send by local time notification and moment follow.
struct AudienceCondition {
    let shape: AudienceShape

    /// The number of the first value that is the statement's own.
    var next: Int { zonePlace + (shape.isZoned ? 2 : 0) }

    private var zonePlace: Int { 5 + shape.coverTags + (shape.restTags == 0 ? 0 : 1 + shape.restTags) }

    /// The values of the tags that cover the audience.
    var coverPlaces: Range<Int> { 5..<5 + shape.coverTags }

    /// Whether the record that is called `name` in the statement is in the audience of the send.
    func matches(_ name: String) -> String {
        [isTarget(name), hasCover(name), matchesRest(name)].compactMap(\.self).joined(separator: " AND ")
    }

    /// The same without its tags: it has a device token that is neither inactive nor expired, was made before the send began, and is a
    /// target of the send's kind. Of templates, the part of Apple's devices has those of platforms without a transport too, and without a
    /// platform every template matches.
    func isTarget(_ name: String) -> String {
        let kind =
            shape.isTemplate
            ? """
            \(name).form <> 0 AND ($4 = '' OR \(name).platform = $4 OR $4 = '\(Platform.apns.rawValue)'
                AND \(name).platform NOT IN (\(Self.ownParts)))
            """ : "\(name).form = 0 AND \(name).platform = $4"
        return """
            \(name).handle IS NOT NULL AND \(name).inactive_at IS NULL AND \(name).order_number <= $2
                AND (\(name).expires_at IS NULL OR \(name).expires_at > $3) AND \(kind)
            """
    }

    /// The platforms whose templates have slices of their own.
    private static let ownParts = Platform.known.filter { $0.indexEntry != nil }.map { "'\($0.rawValue)'" }.joined(
        separator: ", ")

    /// Whether a row with a `slice_key` has one of the tags that cover the audience; `nil` where every record is covered.
    ///
    /// A scalar subquery and not `EXISTS`, which a planner may turn round and read every record with these tags for.
    private func hasCover(_ name: String) -> String? {
        guard shape.coverTags > 0 else { return nil }
        let tags = coverPlaces.map { "$\($0)" }.joined(separator: ", ")
        return """
            (SELECT c.slice_key FROM device_tags c
                WHERE c.hub_id = $1 AND c.tag IN (\(tags)) AND c.slice_key = \(name).slice_key LIMIT 1) IS NOT NULL
            """
    }

    /// Whether the rest of the query says yes for a row with a `slice_key`; `nil` where nothing is left to compare. The tags that the
    /// record has make a number, and the bit of the table at that place is the answer.
    func matchesRest(_ name: String) -> String? {
        guard shape.restTags > 0 else { return nil }
        let table = coverPlaces.upperBound
        let bits = (0..<shape.restTags).map { place in
            """
            COALESCE((SELECT \(1 << place) FROM device_tags r
                WHERE r.hub_id = $1 AND r.tag = $\(table + 1 + place) AND r.slice_key = \(name).slice_key), 0)
            """
        }
        return "((CAST($\(table) AS BIGINT) >> (\(bits.joined(separator: " + ")))) & 1) = 1"
    }
}

extension AudienceCondition {
    /// Whether the record that is called `name` is due at the moment of the slice; `nil` for a send that is due everywhere at once.
    ///
    /// The zone is the one that counts after a change (`DeviceZone`). The list of the zones of the moment is read once for each statement.
    /// It answers for nearly all records, and the search for one zone for the others.
    func isDue(_ name: String) -> String? {
        guard shape.isZoned else { return nil }
        let changed = "\(name).zone_changed_at"
        let counting = """
            CASE WHEN \(changed) IS NULL OR \(momentOrOther(of: "\(name).former_zone")) > \(changed)
                AND \(momentOrOther(of: "\(name).time_zone")) > \(changed) THEN \(name).time_zone ELSE \(name).former_zone END
            """
        return """
            (\(counting) IN (SELECT a.time_zone FROM notification_zones a
                WHERE a.hub_id = $1 AND a.notification_id = $\(zonePlace) AND a.moment = $\(zonePlace + 1))
                OR $\(zonePlace + 1) = \(momentOrOther(of: counting)))
            """
    }

    /// Where no wave has the zone, that of all others.
    private func momentOrOther(of zone: String) -> String { "COALESCE(\(moment(of: zone)), \(moment(of: "''")))" }

    private func moment(of zone: String) -> String {
        """
        (SELECT z.moment FROM notification_zones z
            WHERE z.hub_id = $1 AND z.notification_id = $\(zonePlace) AND z.time_zone = \(zone))
        """
    }
}

/// The audience of a send, and what else of the send a statement needs to find it.
struct SendAudience {
    var hub: HubID
    var query: AudienceQuery
    var format: SendFormat
    /// Of a template send the platform whose templates are meant; absent means all.
    var templates: Platform?
    /// The order number of the send.
    var mark: OrderNumber
    var now: Timestamp
    /// Of a send by local time.
    var wave: Wave?
    /// Of a send with translations.
    var translations = TranslationChoice(stored: nil)

    /// The part of a send that is due at one moment.
    struct Wave {
        var notification: NotificationID
        var moment: Timestamp
    }

    var shape: AudienceShape { AudienceShape(query, format, isZoned: wave != nil) }

    /// The platform of every target of a native send.
    var platform: Platform? { if case .native(let platform) = format { platform } else { nil } }

    /// The values of an `AudienceCondition` of this shape.
    func values(_ shape: AudienceShape) -> [SQLValue] {
        var values: [SQLValue] = [
            .integer(hub.number), .integer(mark.number), .integer(now.milliseconds),
            .text((platform ?? templates)?.rawValue ?? ""),
        ]
        if case .tags(let tags) = query.cover { values += Self.filled(tags, to: shape.coverTags) }
        if let rest = query.rest {
            let table = Self.filled(rest.table, tags: rest.tags.count, to: shape.restTags)
            values += [.integer(Int64(bitPattern: table))] + Self.filled(rest.tags, to: shape.restTags)
        }
        if shape.isZoned, let wave { values += [.text(wave.notification.text), .integer(wave.moment.milliseconds)] }
        return values
    }

    private static func filled(_ tags: [String], to length: Int) -> [SQLValue] {
        (0..<length).map { .text(tags[min($0, tags.count - 1)]) }
    }

    /// The table for more tags than it was made for, on which it does not depend.
    private static func filled(_ table: UInt64, tags: Int, to length: Int) -> UInt64 {
        (tags..<length).reduce(table) { $0 | $0 << UInt64(1 << $1) }
    }
}

/// Compiles audiences by what the index holds of their tags.
enum AudienceIndex {
    /// How far a tag's entries are counted to choose between covers.
    private static let costLimit = 2_000

    /// The query with the cover that has the fewest entries now. Throws `ServiceError` for an expression that is over the limits.
    static func query(_ audience: TagExpression?, _ hub: HubID, _ connection: any SQLConnection) throws -> AudienceQuery {
        var costs: [Tag: Int] = [:]
        // Tags with || alone leave no choice.
        if let audience, !audience.hasOnlyAlternatives {
            for tag in Set(audience.tags) { costs[tag] = try count(tag.folded, hub, limit: costLimit, connection) }
        }
        return try compiled(audience) { costs[$0] ?? 0 }
    }

    /// The query without a look at the index.
    static func compiled(_ audience: TagExpression?, cost: (Tag) -> Int = { _ in 1 }) throws -> AudienceQuery {
        do throws(TagExpressionError) {
            return try AudienceQuery(audience, cost: cost)
        } catch {
            throw ServiceError(.invalidAudience, error.description)
        }
    }

    /// At least as many as there are matches, counted up to `limit`.
    static func size(_ query: AudienceQuery, _ hub: HubID, limit: Int, _ connection: any SQLConnection) throws -> Int {
        switch query.cover {
        case .everyRecord:
            return Int(try connection.row(countAll, [.integer(hub.number), .integer(Int64(limit))])?.integer(0) ?? 0)
        case .tags(let tags):
            var sum = 0
            for tag in tags where sum < limit { sum += try count(tag, hub, limit: limit, connection) }
            return min(sum, limit)
        }
    }

    static func count(_ tag: String, _ hub: HubID, limit: Int, _ connection: any SQLConnection) throws -> Int {
        let row = try connection.row(countTag, [.integer(hub.number), .text(tag), .integer(Int64(limit))])
        return Int(try row?.integer(0) ?? 0)
    }

    static let all = [countTag, countAll]

    private static let countTag = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT slice_key FROM device_tags WHERE hub_id = $1 AND tag = $2 LIMIT $3) AS counted")
    private static let countAll = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT slice_key FROM devices WHERE hub_id = $1 LIMIT $2) AS counted")
}
