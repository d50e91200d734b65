import PushHub
import RichPushModel
import TagExpressions

/// Finds by index who may be meant.
enum AudienceIndex {
    /// How far a tag's entries are counted to choose between plans.
    private static let costLimit = 2_000

    /// The plan for an expression, the cheapest by what the index holds.
    static func plan(_ audience: TagExpression?, _ hub: HubID, _ connection: any SQLConnection) throws -> TagExpression.Plan {
        guard let audience else { return .scan }
        if case .tag(let tag) = audience { return .tags([tag]) }
        var costs: [Tag: Int] = [:]
        for tag in Set(audience.tags) { costs[tag] = try count(tag, hub, limit: costLimit, connection) }
        return audience.plan { costs[$0] ?? 0 }
    }

    /// At least as many as there are matches, counted up to `limit`.
    static func size(_ audience: TagExpression?, _ hub: HubID, limit: Int, _ connection: any SQLConnection) throws -> Int {
        switch try plan(audience, hub, connection) {
        case .scan:
            return Int(try connection.row(countAll, [.integer(hub.number), .integer(Int64(limit))])?.integer(0) ?? 0)
        case .tags(let tags):
            var sum = 0
            for tag in tags where sum < limit { sum += try count(tag, hub, limit: limit, connection) }
            return min(sum, limit)
        }
    }

    private static func count(_ tag: Tag, _ hub: HubID, limit: Int, _ connection: any SQLConnection) throws -> Int {
        let row = try connection.row(countTag, [.integer(hub.number), .text(tag.folded), .integer(Int64(limit))])
        return Int(try row?.integer(0) ?? 0)
    }

    static let all = [countTag, countAll]

    private static let countTag = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT slice_key FROM device_tags WHERE hub_id = $1 AND tag = $2 LIMIT $3) AS counted")
    private static let countAll = SQLStatement(
        "SELECT COUNT(*) FROM (SELECT slice_key FROM devices WHERE hub_id = $1 LIMIT $2) AS counted")
}
