import AppBackend
import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

/// How a sender learns whom a send would reach, and what became of it.
extension BackendRoutes {
    func addFollowingRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "audiences/count", for: .countAudience, to: router) { call in
            _ = try call.query()
            let question = try await call.request.readJSON(
                AudienceQuestion.self, known: FieldNames.audience, limits: options.json)
            return try .json(await backend.countAudience(question.audience, for: call.principal))
        }
        add(.get, "notifications/{id}/status", for: .readSends, to: router) { call in
            _ = try call.query()
            return try .json(await backend.status(of: call.richID(), for: call.principal))
        }
        add(.get, "explain", for: .explain, to: router) { call in
            let query = try call.query("user", "send", "activity")
            let activity = try query.number("activity", in: 1...Int.max)
            guard let user = query["user"], (query["send"] == nil) != (activity == nil) else {
                throw ServiceError(.invalidField, "user, send: the name of a user is needed, and either a send or an activity")
            }
            if let activity {
                return try .json(await backend.explain(activity: Int64(activity), toUser: user, for: call.principal))
            }
            guard let send = query["send"].flatMap({ RichID($0) }) else {
                throw ServiceError(.invalidField, "send: it is the id of a send")
            }
            return try .json(await backend.explain(send, toUser: user, for: call.principal))
        }
        add(.get, "sends", for: .readSends, to: router) { call in
            let query = try call.query("sender", "since", "until", "before", "limit")
            let filter = SendFilter(
                sender: query["sender"], since: try query.moment("since"), until: try query.moment("until"))
            let limit = try query.number("limit", in: 1...RichPushBackend.sendPageLimit)
            return try .json(await backend.sends(filter, before: query["before"], limit: limit, for: call.principal))
        }
        add(.get, "sends/{id}", for: .readSends, to: router) { call in
            let query = try call.query("outcome", "after", "limit")
            let limit = try query.number("limit", in: 1...RichPushBackend.failurePageLimit)
            return try .json(
                await backend.details(
                    ofSend: call.richID(), outcome: query["outcome"], after: query["after"], limit: limit, for: call.principal))
        }
    }
}

/// The body of `POST /api/v1/audiences/count`.
private struct AudienceQuestion: Decodable {
    /// A tag expression; absent means the caller's own devices.
    var audience: String?
}

extension QueryParameters {
    /// A moment in milliseconds since 1970.
    func moment(_ name: String) throws -> Timestamp? {
        try number(name, in: 0...Int.max).map { Timestamp(milliseconds: Int64($0)) }
    }
}
