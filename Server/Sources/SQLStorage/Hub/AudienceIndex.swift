import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

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

    private static func count(_ tag: String, _ hub: HubID, limit: Int, _ connection: any SQLConnection) throws -> Int {
        let row = try connection.row(countTag, [.integer(hub.number), .text(tag), .integer(Int64(limit))])
        return Int(try row?.integer(0) ?? 0)
    }

    static let all = [countTag, countAll]

    private static let countTag = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT slice_key FROM device_tags WHERE hub_id = $1 AND tag = $2 LIMIT $3) AS counted")
    private static let countAll = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT slice_key FROM devices WHERE hub_id = $1 LIMIT $2) AS counted")
}
