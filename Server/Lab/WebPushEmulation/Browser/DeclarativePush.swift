import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A push that says by itself which notification it shows (Reference/WebPush.md#5-2).
public struct DeclarativePush: Sendable, Hashable {
    /// Why a message is an ordinary push.
    public enum Fault: String, Error, Sendable, Hashable, CaseIterable {
        /// No JSON object, or `web_push` is not the number 8030.
        case notDeclared
        case notification, title, navigate, text, direction, address, flag, actions, appBadge, mutable
        /// `renotify` without `tag`, and `silent` with `vibrate`, are errors of the Notification API.
        case renotifyWithoutTag, silentWithVibration
    }

    public let title: String
    /// What a tap opens.
    public let navigate: String
    public let body: String?
    public let tag: String?
    public let appBadge: Int64?
    /// The service worker may replace the notification.
    public let isMutable: Bool
    public let actionTitles: [String]

    /// Reads a message. Throws which member is wrong; the message is an ordinary push then.
    public init(_ message: [UInt8]) throws(Fault) {
        guard let members = try? JSONDecoder().decode([String: JSONValue].self, from: Data(message)),
            members["web_push"]?.wholeNumber == 8_030
        else { throw .notDeclared }
        guard let shown = members["notification"]?.members else { throw .notification }
        guard let title = Self.text(shown["title"]), !title.isEmpty else { throw .title }
        guard let navigate = Self.text(shown["navigate"]), Self.isAbsolute(navigate) else { throw .navigate }
        try Self.check(shown)
        (self.title, self.navigate) = (title, navigate)
        (body, tag) = (Self.text(shown["body"]), Self.text(shown["tag"]))
        actionTitles = try Self.actionTitles(shown["actions"])
        switch members["app_badge"] {
        case nil: appBadge = nil
        case let badge?:
            guard let count = badge.wholeNumber, count >= 0 else { throw .appBadge }
            appBadge = count
        }
        switch members["mutable"] {
        case nil: isMutable = false
        case .flag(let flag)?: isMutable = flag
        default: throw .mutable
        }
    }

    /// The optional members.
    private static func check(_ shown: [String: JSONValue]) throws(Fault) {
        for name in ["body", "lang", "tag"] where shown[name] != nil && text(shown[name]) == nil { throw .text }
        if let direction = shown["dir"], !["auto", "ltr", "rtl"].contains(text(direction)) { throw .direction }
        // An image may be named by a path, which counts from the page.
        for name in ["image", "icon", "badge"] {
            if let value = shown[name], text(value).flatMap({ URL(string: $0) }) == nil { throw .address }
        }
        for name in ["renotify", "silent", "requireInteraction"] {
            guard let value = shown[name] else { continue }
            guard case .flag = value else { throw .flag }
        }
        if shown["renotify"] == .flag(true), text(shown["tag"]) ?? "" == "" { throw .renotifyWithoutTag }
        if shown["silent"] == .flag(true), shown["vibrate"] != nil { throw .silentWithVibration }
    }

    private static func actionTitles(_ value: JSONValue?) throws(Fault) -> [String] {
        guard let value else { return [] }
        guard case .list(let actions) = value else { throw .actions }
        var titles: [String] = []
        for action in actions {
            guard let members = action.members, text(members["action"]) != nil, let title = text(members["title"]),
                text(members["navigate"]).map(isAbsolute) ?? false
            else { throw .actions }
            titles.append(title)
        }
        return titles
    }

    private static func isAbsolute(_ text: String) -> Bool { URL(string: text)?.scheme != nil }

    private static func text(_ value: JSONValue?) -> String? { if case .text(let text)? = value { text } else { nil } }
}
