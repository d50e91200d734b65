import Crypto
import SharedAccess
import WireText

/// Where a browser takes pushes, and the keys with which it alone can read them (Reference/WebPush.md#1-2).
///
/// A hub keeps it as the device token of a record: one text, in which nothing but this module looks for its parts.
public struct WebPushSubscription: Sendable {
    /// The URL that the push service gave the browser.
    public let endpoint: OutboundAddress
    /// The browser's point on P-256, uncompressed: 65 bytes.
    public let publicKey: [UInt8]
    /// What the browser and this server share: 16 bytes.
    public let secret: [UInt8]
    /// The key of the server that the browser subscribed with; absent where that is not known.
    public let serverKey: VAPIDKey.ID?
    /// The point as the library has read it.
    let point: P256.KeyAgreement.PublicKey

    /// Reads what a browser's `PushSubscription` says.
    ///
    /// - Parameters:
    ///   - publicKey: `p256dh` in Base64, in either alphabet, with padding or without.
    ///   - secret: `auth`, likewise.
    /// - Throws: which part is wrong.
    public init(
        endpoint: String, publicKey: String, secret: String, serverKey: VAPIDKey.ID? = nil
    ) throws(WebPushSubscriptionFault) {
        let address: OutboundAddress
        do throws(OutboundAddressFault) { address = try OutboundAddress(reading: endpoint) } catch { throw .endpoint(error) }
        guard let bytes = Base64URL.bytes(of: Base64URL.plain(publicKey)), bytes.count == 65,
            let point = try? P256.KeyAgreement.PublicKey(x963Representation: bytes)
        else { throw .publicKey }
        guard let secret = Base64URL.bytes(of: Base64URL.plain(secret)), secret.count == 16 else { throw .secret }
        (self.endpoint, self.publicKey, self.secret, self.serverKey) = (address, bytes, secret, serverKey)
        self.point = point
    }

    /// Reads the text that a hub keeps; `nil` for any other.
    public init?(token: some StringProtocol) {
        do { try self.init(reading: token) } catch { return nil }
    }

    /// The same, and throws what is wrong.
    public init(reading token: some StringProtocol) throws(WebPushSubscriptionFault) {
        // Byte by byte: each push reads one.
        let parts = String(token).utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard (3...4).contains(parts.count) else { throw .form }
        let serverKey = parts.count == 4 ? VAPIDKey.ID(parts[3]) : nil
        guard parts.count == 3 || serverKey != nil else { throw .form }
        try self.init(endpoint: parts[0], publicKey: parts[1], secret: parts[2], serverKey: serverKey)
    }

    /// The text that a hub keeps: a URL has no spaces.
    public var token: String {
        let parts = [endpoint.url, Base64URL.text(of: publicKey), Base64URL.text(of: secret), serverKey?.text]
        return parts.compactMap(\.self).joined(separator: " ")
    }

    /// Scheme, host and port of the endpoint, for which a server signs (Reference/WebPush.md#4-2).
    public var origin: String { "\(endpoint.isSecure ? "https" : "http")://\(endpoint.authority)" }
}

extension WebPushSubscription: Hashable {
    /// By what it was made from: the point says the same as its bytes.
    public static func == (one: WebPushSubscription, other: WebPushSubscription) -> Bool {
        (one.endpoint, one.publicKey, one.secret, one.serverKey)
            == (other.endpoint, other.publicKey, other.secret, other.serverKey)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(endpoint)
        hasher.combine(publicKey)
        hasher.combine(secret)
        hasher.combine(serverKey)
    }
}

extension WebPushSubscription: CustomStringConvertible, CustomReflectable {
    /// The push service alone: who has the rest can send to the browser, or read along.
    public var description: String { "a subscription at \(endpoint.host)" }
    public var customMirror: Mirror { Mirror(self, children: ["host": endpoint.host]) }
}

/// What is wrong with a subscription. The sentence holds no value.
public enum WebPushSubscriptionFault: Error, Hashable, Sendable {
    /// The text has not three parts.
    case form
    case endpoint(OutboundAddressFault)
    case publicKey, secret
    /// The operator allows no such push service.
    case service
    /// The server does not connect to where the endpoint is, and why.
    case place(String)
}

extension WebPushSubscriptionFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .form: "it is not endpoint, p256dh and auth with a blank between them"
        case .endpoint(let fault): "the endpoint \(fault)"
        case .publicKey: "the key p256dh is not a point on P-256: 65 bytes in Base64 that begin with 4"
        case .secret: "the key auth is not 16 bytes in Base64"
        case .service: "the setting web-push-hosts does not name the push service of the endpoint"
        case .place(let reason): "the endpoint is out of bounds: \(reason)"
        }
    }
}

/// To which browsers a server sends: the one rule for what registers, and for each push. A client names the push service, so it may be any
/// host (Reference/WebPush.md#1-4).
public struct WebPushRule: Hashable, Sendable {
    /// Those of Chrome, Firefox, Safari and Edge (Reference/WebPush.md#1-3).
    public static let knownHosts = ["fcm.googleapis.com", "push.services.mozilla.com", "push.apple.com", "notify.windows.com"]

    /// The push services that browsers may name, in lower case and without a dot at the end: a host, or the end of one after a dot.
    public let hosts: [String]
    /// Where these may be.
    public let places: OutboundRule

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - hosts: the push services; each stands for all hosts below it as well.
    ///   - networks: those that are allowed besides the public Internet.
    public init(hosts: [String] = knownHosts, networks: [AddressRange] = []) {
        self.hosts = hosts.map { String($0.hasSuffix(".") ? $0.dropLast() : $0[...]).lowercased() }
        places = OutboundRule(networks: networks, setting: "web-push-networks")
    }

    /// Reads the text that a hub keeps of a browser. Throws why nothing would ever be sent to it.
    public func subscription(in token: some StringProtocol) throws(WebPushSubscriptionFault) -> WebPushSubscription {
        let subscription = try WebPushSubscription(reading: token)
        if let fault = refusal(of: subscription) { throw fault }
        return subscription
    }

    /// Why nothing is sent to a subscription; `nil` when something is.
    public func refusal(of subscription: WebPushSubscription) -> WebPushSubscriptionFault? {
        let host = subscription.endpoint.host
        guard hosts.contains(where: { host == $0 || host.hasSuffix("." + $0) }) else { return .service }
        return places.refusal(of: subscription.endpoint).map { .place($0) }
    }
}
