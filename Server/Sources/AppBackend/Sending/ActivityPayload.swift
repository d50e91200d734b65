import PushHub
import RichPushModel
import ServiceErrors
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The pushes of a Live Activity as APNs carries them (Reference/APNs.md#6-3).
struct ActivityPayload {
    let activity: LiveActivity
    /// The channel that a start makes devices follow.
    var channel: String?

    private var draft: ActivityDraft { activity.draft }
    private var content: ActivityContent { activity.draft.content }

    /// Starts the activity.
    var start: [UInt8] {
        get throws {
            var attributes = draft.attributes.members ?? [:]
            attributes[ActivityKey.id] = .integer(activity.id)
            var aps = members(event: "start")
            aps["attributes-type"] = .text(draft.attributesType)
            aps["attributes"] = .object(attributes)
            if let channel { aps["input-push-channel"] = .text(channel) } else { aps["input-push-token"] = .integer(1) }
            return try encoded(aps)
        }
    }

    /// Brings a device to what the activity is now, also to its end.
    var update: [UInt8] {
        get throws {
            guard activity.phase == .ended else { return try encoded(members(event: "update")) }
            var aps = members(event: "end")
            aps["dismissal-date"] = content.dismissAt.map { .integer($0.seconds) }
            return try encoded(aps)
        }
    }

    private func members(event: String) -> [String: JSONValue] {
        var state = content.state.members ?? [:]
        state[ActivityKey.revision] = .integer(activity.revision)
        var aps: [String: JSONValue] = [
            "timestamp": .integer(activity.stamp), "event": .text(event), "content-state": .object(state),
        ]
        aps["stale-date"] = content.staleAt.map { .integer($0.seconds) }
        aps["relevance-score"] = content.relevance.map { .number($0) }
        if let alert = content.alert {
            var members: [String: JSONValue] = ["title": .text(alert.title), "body": .text(alert.body)]
            members["sound"] = alert.sound.map { .text($0) }
            aps["alert"] = .object(members)
        }
        return aps
    }

    private func encoded(_ aps: [String: JSONValue]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(["aps": JSONValue.object(aps)]))
    }
}

/// What can be known to fail is the caller's mistake now, not a push that a phone drops without a word.
struct ActivityCheck {
    /// So many bytes may be added until a push leaves: longer numbers, and the moment at which the card goes.
    private static let room = 64
    /// The same for the name of a channel in a start, in place of the wish for a token.
    private static let channelRoom = 64
    private static let largestBody = 4096
    /// APNs takes seconds; a moment in milliseconds would lie thousands of years ahead, and one so far ahead is a mistake as well.
    private static let horizon: Duration = .seconds(366 * 86_400)

    let now: Timestamp

    /// Throws `invalid-field` and `payload-too-large`.
    func check(_ request: ActivityRequest) throws {
        guard InstallationToken.Kind.isName(request.attributesType) else {
            throw Self.wrong("attributesType", "the name of a type: 1 to 100 letters, digits and . _ -")
        }
        if let attributes = request.attributes, attributes.members == nil { throw Self.wrong("attributes", "an object") }
        guard ["push", "app", nil].contains(request.start) else { throw Self.wrong("start", "push or app") }
        guard ["tokens", "channel", nil].contains(request.delivery) else { throw Self.wrong("delivery", "tokens or channel") }
        guard request.channel.map({ $0 > 0 }) ?? true else { throw Self.wrong("channel", "the number of a channel") }
        guard request.channel == nil || request.delivery != "tokens" else {
            throw ServiceError(.conflict, "an activity with a channel is not delivered by tokens")
        }
        // iOS drops a start without an alert and says nothing (Reference/LiveActivities.md#2-3).
        guard request.alert != nil || request.start == "app" else {
            throw Self.wrong("alert", "a title and a body: iOS drops a start by push without them")
        }
        try check(
            ActivityContent(
                state: request.state, alert: request.alert, staleAt: request.staleAt, relevance: request.relevance, priority: 10))
    }

    /// The same for what a revision says.
    func check(_ content: ActivityContent) throws {
        guard content.state.members != nil else { throw Self.wrong("state", "an object") }
        if let alert = content.alert, alert.title.isEmpty || alert.body.isEmpty {
            throw Self.wrong("alert", "a title and a body that are not empty")
        }
        guard [5, 10].contains(content.priority) else { throw Self.wrong("priority", "5 or 10") }
        if let relevance = content.relevance, !(0...100).contains(relevance) {
            throw Self.wrong("relevance", "a number from 0 to 100")
        }
        // The system removes an activity four hours after its end in any case.
        let moments = [
            (content.staleAt, "staleAt", Self.horizon, "a year"),
            (content.dismissAt, "dismissAt", LiveActivity.afterlife, "four hours"),
        ]
        for (moment, field, horizon, words) in moments {
            if let moment, moment < Timestamp(seconds: 0) || moment > now + horizon {
                throw Self.wrong(field, "milliseconds since 1970, at most \(words) ahead")
            }
        }
        if let staleAt = content.staleAt, staleAt <= now { throw Self.wrong("staleAt", "a moment in the future") }
    }

    /// Throws `payload-too-large` where a push would be larger than APNs carries, and `invalid-field` where the app's own keys are those
    /// of the server.
    func checkSize(of draft: ActivityDraft, isOnChannel: Bool) throws {
        for (value, field) in [(draft.attributes, "attributes"), (draft.content.state, "state")] {
            let own = [ActivityKey.id, ActivityKey.revision].first { value.members?[$0] != nil }
            if let own { throw Self.wrong(field, "an object without \(own), which the server sets") }
        }
        guard Self.namesPicture(draft.content.state.members?[ActivityKey.picture]) else {
            throw Self.wrong("state.\(ActivityKey.picture)", "the id of a rich notification")
        }
        let payload = ActivityPayload(activity: LiveActivity(id: 1, draft: draft, stamp: now.seconds, createdAt: now))
        let channel = draft.startsByPush && isOnChannel ? Self.channelRoom : 0
        let size = try (draft.startsByPush ? payload.start.count : payload.update.count) + Self.room + channel
        guard size <= Self.largestBody else {
            throw ServiceError(
                .payloadTooLarge,
                "attributes, state and alert make a push of \(size) bytes; Apple carries \(Self.largestBody) of a Live Activity")
        }
    }

    /// Whether apps can read the value as the id of a picture: another one would make the whole state unreadable for them.
    private static func namesPicture(_ value: JSONValue?) -> Bool {
        switch value {
        case nil, .null?: true
        case .text(let text)?: RichID(text) != nil
        case .integer(let number)?: Int32(exactly: number).flatMap { RichID(number: $0) } != nil
        default: false
        }
    }

    private static func wrong(_ field: String, _ rule: String) -> ServiceError {
        ServiceError(.invalidField, "\(field): it must be \(rule)")
    }
}
