import APNsProtocol
import DeviceSimulation
import RichPushModel

/// What a phone would make of a body that is JSON (Reference/APNs.md#6-1 and #6-2). Nothing here is refused by APNs, which looks
/// at sizes alone.
struct PayloadReview {
    /// The keys of `aps` that Apple documents.
    private static let keys = Set(flags).union([
        "alert", "badge", "sound", "thread-id", "category", "target-content-id",
        "interruption-level", "relevance-score", "filter-criteria", "timestamp", "event", "content-state", "stale-date",
        "dismissal-date", "attributes-type", "attributes", "input-push-channel", "content-changed",
        "ptt-push-type", "url-args",
    ])
    /// Those that are the number 1.
    private static let flags = ["content-available", "mutable-content", "input-push-token"]
    /// The keys of an alert that stand for texts in the app.
    private static let appTexts = ["title-loc-key", "subtitle-loc-key", "loc-key"]
    private static let levels = ["passive", "active", "time-sensitive", "critical"]

    let type: APNsPushType
    let members: [String: JSONValue]
    let text: String

    var findings: [PushFinding] {
        var found = RichKeyReview(members: members).remarks.map { finding($0.key, $0.sentence) }
        if members["Simulator Target Bundle"] != nil {
            found.append(advice("Simulator Target Bundle", "is for Xcode's simulator; on a real phone it is an ordinary key."))
        }
        guard let value = members["aps"] else {
            return found + misplaced + [PushFinding(.advice, "payload", "There is no 'aps', so a phone does nothing with it.")]
        }
        guard let aps = value.members else { return found + [advice("aps", "is \(value.kindName); it must be an object.")] }
        return found + unknownKeys(of: aps) + flags(of: aps) + values(of: aps) + purpose(of: aps)
    }

    /// Keys of Apple's beside an `aps` that is not there.
    private var misplaced: [PushFinding] {
        members.keys.filter(Self.keys.contains).sorted().map { advice($0, "belongs into the object 'aps'.") }
    }

    private func unknownKeys(of aps: [String: JSONValue]) -> [PushFinding] {
        aps.keys.filter { !Self.keys.contains($0) }.sorted().map { key in
            let meant = Self.keys.first { Self.plain($0) == Self.plain(key) }
            let hint = meant.map { "; '\($0)' is probably meant" } ?? "; the app's own keys go beside 'aps'"
            return advice(key, "is no key of 'aps', and what is added there is ignored\(hint).")
        }
    }

    /// `mutable_content` and `mutableContent` as `mutablecontent`.
    private static func plain(_ key: String) -> String { key.lowercased().filter { $0.isLetter } }

    private func flags(of aps: [String: JSONValue]) -> [PushFinding] {
        Self.flags.compactMap { key in
            guard let value = aps[key], value.wholeNumber != 1 else { return nil }
            return advice(
                key, "must be the number 1, and this is \(value.kindName == "a number" ? "another one" : value.kindName).")
        }
    }

    private func values(of aps: [String: JSONValue]) -> [PushFinding] {
        var found: [PushFinding] = []
        if let badge = aps["badge"], badge.kindName != "a number" {
            found.append(advice("badge", "is a number, and this is \(badge.kindName)."))
        } else if let badge = aps["badge"], badge.wholeNumber.map({ $0 < 0 }) ?? true {
            found.append(advice("badge", "is a whole number from 0."))
        }
        if let alert = aps["alert"], alert.members == nil, alert.kindName != "a text in quotes" {
            found.append(advice("alert", "is an object with title and body, or a text; this is \(alert.kindName)."))
        }
        for key in ["thread-id", "category", "target-content-id"] {
            guard let value = aps[key], value.kindName != "a text in quotes" else { continue }
            found.append(advice(key, "is a text, and this is \(value.kindName)."))
        }
        if let level = aps["interruption-level"], !Self.levels.contains(where: { .text($0) == level }) {
            found.append(advice("interruption-level", "is one of \(Self.levels.joined(separator: ", "))."))
        }
        return found
    }

    /// Whether the body fits what its push type promises.
    private func purpose(of aps: [String: JSONValue]) -> [PushFinding] {
        let isSilent = aps["content-available"]?.wholeNumber == 1
        let visible = ["alert", "badge", "sound"].filter { aps[$0] != nil && aps[$0] != .text("") }
        var found: [PushFinding] = []
        if type == .background, !isSilent {
            found.append(PushFinding(.advice, "payload", "A background push needs 'content-available' with the number 1."))
        }
        if type == .background, let key = visible.first {
            found.append(advice(key, "does not belong into a background push; send it with type alert."))
        }
        if type == .alert, visible.isEmpty {
            let silent = "It is a background push: send it with type background and priority 5."
            found.append(PushFinding(.advice, "pushType", isSilent ? silent : "There is nothing to show."))
        }
        if let alert = aps["alert"]?.members, let key = Self.appTexts.first(where: { alert[$0] != nil }),
            !["title", "subtitle", "body"].contains(where: { alert[$0] != nil })
        {
            found.append(advice(key, "names a text in the app. The app on these phones has none, so they show nothing."))
        }
        if aps["mutable-content"] != nil, aps["alert"] == nil {
            found.append(advice("mutable-content", "starts the service extension for an alert only, and there is none."))
        }
        return found
    }

    private func advice(_ key: String, _ text: String) -> PushFinding { finding(key, "'\(key)' \(text)") }

    private func finding(_ key: String, _ sentence: String) -> PushFinding {
        let place = TextPlace(ofName: key, in: text)
        return PushFinding(.advice, "payload", sentence, line: place?.line, column: place?.column)
    }
}
