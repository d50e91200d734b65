import Crypto
import RichPushModel
import WebPushProtocol
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a service worker makes of a push.
public enum WorkerReaction: Sendable, Hashable {
    case shows(title: String)
    /// It ends without a notification.
    case showsNothing
    case fails
}

/// What a browser did with a push.
public struct ReceivedPush: Sendable, Hashable {
    /// Why there is a notification, or none.
    public enum Outcome: Sendable, Hashable {
        case declared(DeclarativePush)
        case shownByWorker(title: String)
        case silent
        /// The same message came before.
        case repeated
        /// The body could not be decrypted.
        case unreadable(WebPushBodyFault)
        /// There is no such subscription, or no permission.
        case notWanted
    }

    public var messageID: String
    public var channelID: String
    /// The clear text; `nil` for a message without a body, and for what was not read.
    public var message: [UInt8]?
    public var outcome: Outcome

    /// The code of the acknowledgement (Reference/WebPush.md#6-1).
    public var code: Int {
        switch outcome {
        case .declared, .shownByWorker, .silent: 100
        case .unreadable: 101
        case .repeated, .notWanted: 102
        }
    }
}

/// A browser without I/O (Reference/WebPush.md#8-3): texts of the service in, its own texts out. `BrowserSession` connects it.
public struct SimulatedBrowser: Sendable {
    /// How it behaves.
    public struct Behaviour: Sendable {
        /// It shows declared notifications itself; else each push goes to the service worker (Reference/WebPush.md#5-3).
        public var readsDeclarations = true
        /// After so many pushes without a notification it ends the subscription, as Safari does (Reference/WebPush.md#2-4); `nil` for never.
        public var silentPushLimit: Int? = 3
        /// It acknowledges; without, the service sends all again at the next connection.
        public var acknowledges = true
        /// The service worker of every page.
        public var worker: @Sendable ([UInt8]?) -> WorkerReaction = { _ in .shows(title: "Stock text") }

        /// Creates the behaviour of a browser that shows everything.
        public init() {}
    }

    /// A subscription with its secrets.
    struct Subscription: Sendable {
        let key: P256.KeyAgreement.PrivateKey
        let secret: [UInt8]
        /// `applicationServerKey` in base64url.
        let serverKey: String?
        /// Absent until the service has answered.
        var endpoint: String?
        /// The newest last, as Firefox keeps them (Reference/WebPush.md#6-4).
        var recentMessages: [String] = []
        var silentPushes = 0
    }

    /// What follows from a text of the service.
    struct Reaction: Sendable {
        var replies: [String] = []
        var pushes: [ReceivedPush] = []
        var saidHello = false
        var registered: (channelID: String, status: Int)?
    }

    public var behaviour: Behaviour
    /// The id that the service gave.
    public private(set) var uaid: String?
    public private(set) var hasPermission = true
    /// The number at the icon of the app.
    public private(set) var appBadge: Int64 = 0
    private(set) var subscriptions: [String: Subscription] = [:]
    private var random: any RandomNumberGenerator & Sendable

    /// How many message ids Firefox keeps.
    private static let keptMessages = 100

    /// Creates a browser that was never connected.
    public init(
        behaviour: Behaviour = Behaviour(), random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        (self.behaviour, self.random) = (behaviour, random)
    }

    /// The subscriptions that the service has answered, in the order of their ids.
    public var channelIDs: [String] { subscriptions.filter { $0.value.endpoint != nil }.keys.sorted() }

    /// What a page gives to its server; `nil` for a subscription that there is not.
    public func subscription(_ channelID: String) -> WebPushSubscription? {
        guard let known = subscriptions[channelID], let endpoint = known.endpoint else { return nil }
        return try? WebPushSubscription(
            endpoint: endpoint, publicKey: Base64URL.text(of: Array(known.key.publicKey.x963Representation)),
            secret: Base64URL.text(of: known.secret))
    }

    /// How many pushes of a subscription showed nothing.
    public func silentPushes(_ channelID: String) -> Int { subscriptions[channelID]?.silentPushes ?? 0 }

    // MARK: What it says

    /// The first text of a connection. Firefox names its id only when it has a subscription.
    func hello() -> String {
        let name = subscriptions.isEmpty ? nil : uaid
        return JSONText.object([
            ("messageType", #""hello""#), ("use_webpush", "true"), ("broadcasts", "{}"), ("uaid", name.map(JSONText.string)),
        ])
    }

    /// Makes keys for a new subscription. The key of the server goes out with padding, as Firefox writes it.
    mutating func subscribe(serverKey: String?) -> (channelID: String, text: String) {
        var bytes = randomBytes(16)
        (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x40, bytes[8] & 0x3F | 0x80)
        let channelID = PushText.uuid(of: bytes)
        subscriptions[channelID] = Subscription(key: newKey(), secret: randomBytes(16), serverKey: serverKey)
        let padded = serverKey.map { $0 + String(repeating: "=", count: (4 - $0.utf8.count % 4) % 4) }
        let text = JSONText.object([
            ("messageType", #""register""#), ("channelID", JSONText.string(channelID)), ("key", padded.map(JSONText.string)),
        ])
        return (channelID, text)
    }

    /// The user or the page ends a subscription.
    mutating func unsubscribe(_ channelID: String, code: Int = 200) -> [String] {
        guard subscriptions.removeValue(forKey: channelID) != nil else { return [] }
        let members: [(name: String, value: String?)] = [
            ("messageType", #""unregister""#), ("channelID", JSONText.string(channelID)), ("code", "\(code)"),
        ]
        return [JSONText.object(members)]
    }

    /// The user withdraws the permission: every subscription ends.
    mutating func withdrawPermission() -> [String] {
        hasPermission = false
        return subscriptions.keys.sorted().flatMap { unsubscribe($0, code: 202) }
    }

    private mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    /// Almost every 32 bytes are a key.
    private mutating func newKey() -> P256.KeyAgreement.PrivateKey {
        for _ in 0..<4 {
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: randomBytes(32)) { return key }
        }
        return P256.KeyAgreement.PrivateKey()
    }

    // MARK: What it hears

    /// A text of the service (Reference/WebPush.md#6-2). Firefox ignores what it does not know.
    mutating func receive(_ text: String) -> Reaction {
        var reaction = Reaction()
        guard let members = try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8)) else { return reaction }
        switch Self.text(members["messageType"]) {
        case "hello":
            guard let named = Self.text(members["uaid"]) else { return reaction }
            // Another id means that the service has forgotten this browser.
            if named != uaid { subscriptions.removeAll() }
            uaid = named
            reaction.saidHello = true
        case "register":
            guard let channelID = Self.text(members["channelID"]), let status = members["status"]?.wholeNumber else { break }
            if status == 200 {
                subscriptions[channelID]?.endpoint = Self.text(members["pushEndpoint"])
            } else {
                subscriptions[channelID] = nil
            }
            reaction.registered = (channelID, Int(status))
        case "notification": receive(members, &reaction)
        default: break
        }
        return reaction
    }

    private mutating func receive(_ members: [String: JSONValue], _ reaction: inout Reaction) {
        guard let channelID = Self.text(members["channelID"]), let version = Self.text(members["version"]) else { return }
        let push = take(version, channelID: channelID, data: Self.text(members["data"]))
        reaction.pushes.append(push)
        if behaviour.acknowledges {
            let update = JSONText.object([
                ("channelID", JSONText.string(channelID)), ("version", JSONText.string(version)), ("code", "\(push.code)"),
            ])
            reaction.replies.append(#"{"messageType":"ack","updates":[\#(update)]}"#)
        }
        guard push.outcome == .silent else { return }
        subscriptions[channelID]?.silentPushes += 1
        if let limit = behaviour.silentPushLimit, silentPushes(channelID) >= limit {
            reaction.replies += unsubscribe(channelID, code: 201)
        }
    }

    private mutating func take(_ id: String, channelID: String, data: String?) -> ReceivedPush {
        var push = ReceivedPush(messageID: id, channelID: channelID, message: nil, outcome: .notWanted)
        guard hasPermission, let subscription = subscriptions[channelID] else { return push }
        guard !subscription.recentMessages.contains(id) else {
            push.outcome = .repeated
            return push
        }
        subscriptions[channelID]?.recentMessages = subscription.recentMessages.suffix(Self.keptMessages - 1) + [id]
        if let data {
            do throws(WebPushBodyFault) {
                let body = Base64URL.bytes(of: data.prefix { $0 != "=" }) ?? []
                push.message = try WebPushEncryption.message(in: body, for: subscription.key, secret: subscription.secret)
            } catch {
                push.outcome = .unreadable(error)
                return push
            }
        }
        push.outcome = outcome(of: push.message)
        return push
    }

    /// A declared notification is shown without the service worker, unless it may be replaced; then it stands in for a worker that shows
    /// none (Reference/WebPush.md#5-2).
    private mutating func outcome(of message: [UInt8]?) -> ReceivedPush.Outcome {
        let declared = behaviour.readsDeclarations ? message.flatMap { try? DeclarativePush($0) } : nil
        if let badge = declared?.appBadge { appBadge = badge }
        if let declared, !declared.isMutable { return .declared(declared) }
        switch (behaviour.worker(message), declared) {
        case (.shows(let title), _): return .shownByWorker(title: title)
        case (_, let declared?): return .declared(declared)
        case (_, nil): return .silent
        }
    }

    private static func text(_ value: JSONValue?) -> String? { if case .text(let text)? = value { text } else { nil } }
}
