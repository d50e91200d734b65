import Crypto
import RichPushModel
import SharedAccess
import Synchronization
import WireText

/// The key pair with which a server says to push services who it is (RFC 8292; Reference/WebPush.md#4-2). It is never printed.
public struct VAPIDKey: Sendable {
    /// Names a key: the beginning of a digest of its public half.
    public struct ID: Hashable, Sendable {
        /// Eleven letters of the URL-safe alphabet.
        public let text: String

        /// `nil` for what names no key.
        public init?(_ text: String) {
            guard Base64URL.bytes(of: text)?.count == 8 else { return nil }
            self.text = text
        }

        fileprivate init(of point: [UInt8]) { text = Base64URL.text(of: Array(SHA256.hash(data: point).prefix(8))) }
    }

    public let id: ID
    /// The `applicationServerKey` with which browsers subscribe: 65 bytes in Base64 for URLs.
    public let publicText: String
    private let key: P256.Signing.PrivateKey

    /// Makes a new key.
    public init() { self.init(P256.Signing.PrivateKey()) }

    /// Reads a private key as libraries for Web Push write it: 32 bytes in Base64, in either alphabet. `nil` for anything else.
    public init?(privateText: some StringProtocol) {
        guard let bytes = Base64URL.bytes(of: Base64URL.plain(privateText)), bytes.count == 32,
            let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.init(key)
    }

    private init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        let point = Array(key.publicKey.x963Representation)
        id = ID(of: point)
        publicText = Base64URL.text(of: point)
    }

    /// The private half, for the file that keeps it. A secret.
    public var privateText: String { Base64URL.text(of: Array(key.rawRepresentation)) }

    /// A token for one push service.
    ///
    /// - Parameters:
    ///   - origin: scheme, host and port of its endpoints.
    ///   - subject: `mailto:` or `https:`, where its operator reaches the sender.
    func token(for origin: String, subject: String, expiresAt: Timestamp) throws -> String {
        // The subject was checked to need no escapes, and an origin has none.
        let parts = [
            #"{"typ":"JWT","alg":"ES256"}"#, #"{"aud":"\#(origin)","exp":\#(expiresAt.seconds),"sub":"\#(subject)"}"#,
        ]
        let message = parts.map { Base64URL.text(of: Array($0.utf8)) }.joined(separator: ".")
        let signature = try key.signature(for: Array(message.utf8))
        return message + "." + Base64URL.text(of: Array(signature.rawRepresentation))
    }
}

extension VAPIDKey: CustomStringConvertible {
    /// The id, which is no secret.
    public var description: String { "VAPID key \(id.text)" }
}

/// The keys of a sender: the one that browsers subscribe with now, and those with which older subscriptions were made.
public struct VAPIDIdentity: Sendable {
    /// Where the operator of a push service reaches the sender.
    public let subject: String
    /// The first one is in use for new subscriptions.
    public let keys: [VAPIDKey]

    /// Creates an identity. `nil` without a key, and for a subject that push services refuse: it is `mailto:` with an address or `https:` with a
    /// host, which others can reach.
    public init?(subject: String, keys: [VAPIDKey]) {
        guard !keys.isEmpty, Self.isSubject(subject) else { return nil }
        (self.subject, self.keys) = (subject, keys)
    }

    /// Whether push services take it. Apple's refuses those of this machine (Reference/WebPush.md#4-2).
    public static func isSubject(_ text: String) -> Bool {
        guard text.utf8.count <= 500, text.utf8.allSatisfy({ (33...126).contains($0) && $0 != 34 && $0 != 92 }) else {
            return false
        }
        if text.hasPrefix("mailto:") {
            let parts = text.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
            return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && isPublic(host: String(parts[1]))
        }
        // What stands behind # is no part of the place.
        guard let address = OutboundAddress(String(text.prefix { $0 != "#" })) else { return false }
        return address.isSecure && isPublic(host: address.host)
    }

    /// Whether others can reach a host by this name or address, as far as that shows.
    private static func isPublic(host: String) -> Bool {
        if AddressRange.bytes(ofAddress: host) != nil { return AddressRange.isPublic(host) }
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty }), let last = labels.last else { return false }
        return last.contains(where: \.isLetter) && !["localhost", "local", "internal", "invalid", "test"].contains(last)
    }

    /// The keys that a browser may have subscribed with, the likeliest first: its own, or all where it names none. Empty when its own is not
    /// kept any more.
    public func keys(for subscription: WebPushSubscription) -> [VAPIDKey] {
        guard let id = subscription.serverKey else { return keys }
        return keys.filter { $0.id == id }
    }
}

/// Signs once for each push service and key, and uses the token for half of its life.
public final class VAPIDTokenCache: Sendable {
    /// Push services refuse a token that lives longer than 24 hours, and clocks differ.
    static let life: Duration = .seconds(12 * 3600)
    static let renewal: Duration = .seconds(6 * 3600)
    /// A caller chooses the origins, so there is an end to what is kept.
    static let capacity = 1_000

    private struct Place: Hashable {
        var origin: String
        var key: VAPIDKey.ID
    }

    private struct Entry {
        var authorization: String
        var signedAt: Duration
    }

    private let subject: String
    private let clock: any ServiceClock
    private let entries = Mutex<[Place: Entry]>([:])

    /// Creates a cache for the tokens of one subject.
    public init(subject: String, clock: any ServiceClock) { (self.subject, self.clock) = (subject, clock) }

    /// The value of the `authorization` header for an origin. A secret: never log it.
    ///
    /// - Throws: the error of the signing library.
    public func authorization(for origin: String, key: VAPIDKey) throws -> String {
        let place = Place(origin: origin, key: key.id)
        return try entries.withLock { entries in
            let uptime = clock.uptime
            if let entry = entries[place], uptime - entry.signedAt < Self.renewal { return entry.authorization }
            if entries.count >= Self.capacity { entries = [:] }
            let token = try key.token(for: origin, subject: subject, expiresAt: clock.now + Self.life)
            let authorization = "vapid t=\(token), k=\(key.publicText)"
            entries[place] = Entry(authorization: authorization, signedAt: uptime)
            return authorization
        }
    }

    /// Forgets the token of an origin, which the push service has refused: the next one is signed anew.
    public func forget(_ origin: String, key: VAPIDKey.ID) {
        entries.withLock { $0[Place(origin: origin, key: key)] = nil }
    }
}
