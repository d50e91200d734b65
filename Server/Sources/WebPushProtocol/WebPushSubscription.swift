import Crypto
import SharedAccess
import WireText

/// Where a browser takes pushes, and the keys with which it alone can read them (Reference/WebPush.md#1-2).
///
/// A hub keeps it as the device token of a record: one text, in which nothing but this module looks for its parts.
public struct WebPushSubscription: Hashable, Sendable {
    /// The URL that the push service gave the browser.
    public let endpoint: OutboundAddress
    /// The browser's point on P-256, uncompressed: 65 bytes.
    public let publicKey: [UInt8]
    /// What the browser and this server share: 16 bytes.
    public let secret: [UInt8]
    /// The key of the server that the browser subscribed with; absent where that is not known.
    public let serverKey: VAPIDKey.ID?

    /// Reads what a browser's `PushSubscription` says.
    ///
    /// - Parameters:
    ///   - publicKey: `p256dh` in Base64, in either alphabet, with padding or without.
    ///   - secret: `auth`, likewise.
    /// - Throws: which part is wrong.
    public init(
        endpoint: String, publicKey: String, secret: String, serverKey: VAPIDKey.ID? = nil
    ) throws(WebPushSubscriptionFault) {
        guard let address = OutboundAddress(endpoint) else { throw .endpoint }
        guard let point = Base64URL.bytes(of: Base64URL.plain(publicKey)), point.count == 65,
            (try? P256.KeyAgreement.PublicKey(x963Representation: point)) != nil
        else { throw .publicKey }
        guard let secret = Base64URL.bytes(of: Base64URL.plain(secret)), secret.count == 16 else { throw .secret }
        (self.endpoint, self.publicKey, self.secret, self.serverKey) = (address, point, secret, serverKey)
    }

    /// Reads the text that a hub keeps; `nil` for any other.
    public init?(token: some StringProtocol) {
        // Byte by byte: each push reads one.
        let parts = String(token).utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard (3...4).contains(parts.count) else { return nil }
        let serverKey = parts.count == 4 ? VAPIDKey.ID(parts[3]) : nil
        guard parts.count == 3 || serverKey != nil else { return nil }
        try? self.init(endpoint: parts[0], publicKey: parts[1], secret: parts[2], serverKey: serverKey)
    }

    /// The text that a hub keeps: a URL has no spaces.
    public var token: String {
        let parts = [endpoint.url, Base64URL.text(of: publicKey), Base64URL.text(of: secret), serverKey?.text]
        return parts.compactMap(\.self).joined(separator: " ")
    }

    /// Whether the push service is one of these, in lower case: a host, or the end of one after a dot.
    public func isAt(anyOf hosts: [String]) -> Bool {
        hosts.contains { endpoint.host == $0 || endpoint.host.hasSuffix("." + $0) }
    }

    /// Scheme, host and port of the endpoint, for which a server signs (Reference/WebPush.md#4-2).
    public var origin: String { "\(endpoint.isSecure ? "https" : "http")://\(endpoint.authority)" }
}

extension WebPushSubscription: CustomStringConvertible, CustomReflectable {
    /// The push service alone: who has the rest can send to the browser, or read along.
    public var description: String { "a subscription at \(endpoint.host)" }
    public var customMirror: Mirror { Mirror(self, children: ["host": endpoint.host]) }
}

/// Which part of a subscription is wrong. The sentence holds no value.
public enum WebPushSubscriptionFault: Error, Hashable, Sendable {
    case endpoint, publicKey, secret
}

extension WebPushSubscriptionFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .endpoint: "the endpoint is not an absolute URL with https"
        case .publicKey: "the key p256dh is not a point on P-256: 65 bytes in Base64 that begin with 4"
        case .secret: "the key auth is not 16 bytes in Base64"
        }
    }
}
