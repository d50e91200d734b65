import Crypto
import RichPushModel
import WireText

/// What a local push service knows that outlasts a run: without it every endpoint that a sender has is answered 404 after a restart.
///
/// It holds the key that seals endpoints, which is a secret. Records and faults are not part of it.
public struct KeptPushService: Sendable, Hashable, Codable {
    /// A browser.
    public struct User: Sendable, Hashable, Codable {
        var uaid: String
        var subscriptions: [Subscription]
        var messages: [Message]
        var isOverfull: Bool?
    }

    /// A subscription; the key is base64url.
    public struct Subscription: Sendable, Hashable, Codable {
        var channelID: String
        var key: String?
        var token: String
    }

    /// A message that waits; the body is base64url.
    public struct Message: Sendable, Hashable, Codable {
        var id: String
        var channelID: String
        var topic: String?
        var body: String
        var expiresAt: Timestamp
        var wasSentBefore: Bool?
    }

    /// The form of this document.
    static let presentVersion = 1

    var version = Self.presentVersion
    var tokenKey: String
    var users: [User] = []

    /// Whether there is no browser to keep.
    public var isEmpty: Bool { users.isEmpty }
}

extension LocalWebPush {
    /// Grows with every change of `keptState`.
    public var keptRevision: Int { core.with { $0.keptRevision } }

    /// What the next run needs to know, in an order that does not depend on chance.
    public var keptState: KeptPushService { core.with { $0.kept } }

    /// Restores the state of an earlier run; call it before `start`. Throws `LocalWebPushError`, and has then restored nothing.
    public func restore(_ kept: KeptPushService) throws {
        guard kept.version == KeptPushService.presentVersion else {
            throw LocalWebPushError.badKeptState("it has another version")
        }
        try core.with { state in
            var restored = state
            try restored.restore(kept)
            state = restored
        }
    }
}

extension PushServiceState {
    var kept: KeptPushService {
        var kept = KeptPushService(tokenKey: Base64URL.text(of: tokenKey.withUnsafeBytes { Array($0) }))
        // Who never subscribed is forgotten with the connection.
        kept.users = users.filter { !$0.value.subscriptions.isEmpty }.sorted { $0.key < $1.key }.map { uaid, account in
            .init(
                uaid: uaid,
                subscriptions: account.subscriptions.sorted { $0.key < $1.key }.map { channelID, subscription in
                    .init(channelID: channelID, key: subscription.key.map { Base64URL.text(of: $0) }, token: subscription.token)
                }, messages: account.messages.filter { !$0.isForNowOnly }.map(\.kept), isOverfull: account.isOverfull ? true : nil
            )
        }
        return kept
    }

    mutating func restore(_ kept: KeptPushService) throws {
        guard let key = Base64URL.bytes(of: kept.tokenKey), key.count == 32 else {
            throw LocalWebPushError.badKeptState("the key of the endpoints has not 32 bytes")
        }
        tokenKey = SymmetricKey(data: key)
        for user in kept.users {
            guard PushText.isUserID(user.uaid) else { throw LocalWebPushError.badKeptState("a user has no id") }
            var account = BrowserAccount()
            for subscription in user.subscriptions {
                account.subscriptions[subscription.channelID] = try restored(subscription, of: user.uaid)
            }
            account.messages = try user.messages.map(WaitingMessage.init)
            account.isOverfull = user.isOverfull ?? false
            users[user.uaid] = account
        }
    }

    /// A token that the key does not open would be an endpoint that is answered 404.
    private func restored(_ kept: KeptPushService.Subscription, of uaid: String) throws -> BrowserAccount.Subscription {
        let key = kept.key.flatMap { Base64URL.bytes(of: $0) }
        guard (key == nil) == (kept.key == nil),
            EndpointToken(kept.token, key: tokenKey) == EndpointToken(uaid: uaid, channelID: kept.channelID, key: key)
        else { throw LocalWebPushError.badKeptState("a subscription and its endpoint do not fit") }
        return BrowserAccount.Subscription(key: key, token: kept.token)
    }
}

extension WaitingMessage {
    fileprivate var kept: KeptPushService.Message {
        .init(
            id: id, channelID: channelID, topic: topic, body: Base64URL.text(of: body), expiresAt: expiresAt,
            wasSentBefore: isSent || wasSentBefore ? true : nil)
    }

    fileprivate init(_ kept: KeptPushService.Message) throws {
        guard let body = Base64URL.bytes(of: kept.body) else { throw LocalWebPushError.badKeptState("a message has no body") }
        self.init(
            id: kept.id, channelID: kept.channelID, topic: kept.topic, body: body, expiresAt: kept.expiresAt, isForNowOnly: false,
            wasSentBefore: kept.wasSentBefore ?? false)
    }
}
