import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a browser says (Reference/WebPush.md#6-1).
enum BrowserMessage: Sendable, Hashable {
    struct Acknowledgement: Sendable, Hashable {
        var channelID: String
        var version: String
        var code: Int
    }

    case hello(uaid: String?)
    /// The key is base64url as it came.
    case register(channelID: String, key: String?)
    case unregister(channelID: String, code: Int)
    case broadcastSubscribe([String: JSONValue])
    case ack([Acknowledgement])
    case nack(version: String, code: Int)
    case ping

    /// `nil` for ill-formed JSON, for an unknown message, and for one whose members are wrong.
    init?(_ text: String) {
        guard let members = try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8)),
            let message = Self.message(of: members)
        else { return nil }
        self = message
    }

    private static func message(of members: [String: JSONValue]) -> BrowserMessage? {
        guard let type = members["messageType"] else { return members.isEmpty ? .ping : nil }
        guard case .text(let type) = type else { return nil }
        switch type {
        case "hello":
            // Without it Firefox would expect an old form of messages.
            guard members["use_webpush"] == .flag(true) else { return nil }
            return .hello(uaid: text(members["uaid"]))
        case "register":
            guard let channel = text(members["channelID"]), PushText.isChannelID(channel) else { return nil }
            // A key that is no text is a key that cannot be read, and not an absent one.
            let key: String? = members["key"].flatMap { $0 == .null ? nil : text($0) ?? "" }
            return .register(channelID: channel, key: key)
        case "unregister":
            guard let channel = text(members["channelID"]), PushText.isChannelID(channel) else { return nil }
            return .unregister(channelID: channel, code: code(members, default: 200))
        case "broadcast_subscribe": return members["broadcasts"]?.members.map { .broadcastSubscribe($0) }
        case "ack": return acknowledgements(members["updates"]).map { .ack($0) }
        case "nack": return text(members["version"]).map { .nack(version: $0, code: code(members, default: 303)) }
        case "ping": return .ping
        default: return nil
        }
    }

    private static func acknowledgements(_ value: JSONValue?) -> [Acknowledgement]? {
        guard case .list(let updates)? = value else { return nil }
        let read = updates.compactMap { update -> Acknowledgement? in
            guard let members = update.members, let channel = text(members["channelID"]), let version = text(members["version"])
            else { return nil }
            return Acknowledgement(channelID: channel, version: version, code: code(members, default: 100))
        }
        return read.count == updates.count ? read : nil
    }

    private static func text(_ value: JSONValue?) -> String? { if case .text(let text)? = value { text } else { nil } }

    private static func code(_ members: [String: JSONValue], default code: Int) -> Int {
        members["code"]?.wholeNumber.flatMap { Int(exactly: $0) } ?? code
    }
}

/// What the service does with a connection of a browser.
struct BrowserInstruction: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        /// A text frame of JSON (Reference/WebPush.md#6-2).
        case send(String)
        /// A close frame, and the end.
        case close(BrowserClose)
    }

    var connection: Int
    var action: Action
}

/// Why a connection of a browser ends (Reference/WebPush.md#6-3).
public enum BrowserClose: String, Sendable, Hashable, Codable, CaseIterable {
    case binaryFrame, tooLong, badMessage, secondHello, noHello, pingsTooOften, userReset, displaced, tooManyUsers
    /// The pong did not come.
    case silent
    /// The operator ended it, or the service ends.
    case goingAway
    /// The operator ended it, and the browser shall not connect again by itself.
    case stayAway

    /// The code of the close frame.
    public var code: UInt16 {
        switch self {
        case .binaryFrame: 1003
        case .tooLong: 1009
        case .badMessage, .secondHello, .noHello, .pingsTooOften: 1011
        // For the last one of these the page names no code.
        case .userReset, .displaced: 1000
        case .tooManyUsers: 1013
        case .silent, .goingAway: 1001
        case .stayAway: 4774
        }
    }
}

/// Texts of the service (Reference/WebPush.md#6-2).
enum ServiceText {
    static func hello(uaid: String) -> String {
        object("hello", [("uaid", string(uaid)), ("status", "200"), ("use_webpush", "true"), ("broadcasts", "{}")])
    }

    static func registered(channelID: String, status: Int, endpoint: String?) -> String {
        object(
            "register",
            [("channelID", string(channelID)), ("status", "\(status)"), ("pushEndpoint", endpoint.map(string))])
    }

    static func unregistered(channelID: String) -> String {
        object("unregister", [("channelID", string(channelID)), ("status", "200")])
    }

    /// No broadcast has a version here: Firefox's are about its remote settings.
    static let broadcasts = object("broadcast", [("broadcasts", "{}")])

    static let ping = "{}"

    /// A message; without a body there are no data and no headers.
    static func notification(_ message: WaitingMessage) -> String {
        let isEmpty = message.body.isEmpty
        return object(
            "notification",
            [
                ("channelID", string(message.channelID)), ("version", string(message.id)),
                ("data", isEmpty ? nil : string(Base64URL.text(of: message.body))),
                ("headers", isEmpty ? nil : #"{"encoding":"aes128gcm"}"#),
            ])
    }

    private static func string(_ text: String) -> String { JSONText.string(text) }

    private static func object(_ type: String, _ members: [(name: String, value: String?)]) -> String {
        JSONText.object([("messageType", string(type))] + members)
    }
}
