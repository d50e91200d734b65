import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes tokens with one key of one rule (Reference/AzureNotificationHubs.md#1-2). The key is never printed.
public struct SharedAccessSigner: Sendable, Hashable {
    public let ruleName: String
    private let key: SharedAccessKey

    public init(ruleName: String, key: SharedAccessKey) {
        self.ruleName = ruleName
        self.key = key
    }

    /// Creates a signer with the key of a connection string.
    public init(_ connection: ConnectionString) { self.init(ruleName: connection.keyName, key: connection.key) }

    /// The value of the `Authorization` header for an address and all below it, in the documented form: lower case, then escaped with
    /// lower-case digits. `audience` is an address such as `https://push.example.test/demo`.
    public func token(audience: String, expiresAt: Timestamp) -> String {
        let encoded = PercentEncoding.encode(audience.lowercased(), uppercase: false)
        let expiry = String(max(0, expiresAt.seconds))
        let code = Data(key.signature(audience: encoded, expiry: expiry)).base64EncodedString()
        let signature = PercentEncoding.encode(code, uppercase: false)
        let name = PercentEncoding.encode(ruleName, uppercase: false)
        return "SharedAccessSignature sr=\(encoded)&sig=\(signature)&se=\(expiry)&skn=\(name)"
    }
}

extension SharedAccessSigner: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "shared access signer \(ruleName) (key not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["ruleName": ruleName]) }
}

/// The tokens a client holds, so that it signs once in a while and not for each request. A value: its owner guards it.
public struct SharedAccessTokenCache: Sendable {
    /// How long a new token is valid.
    public static let lifetime = Duration.seconds(3600)
    /// A token with less than this left is not handed out again: requests may wait, and clocks differ.
    public static let remainder = Duration.seconds(600)
    /// The most audiences that are remembered.
    public static let capacity = 64

    private struct Entry {
        var token: String
        var expiresAt: Timestamp
    }

    private let signer: SharedAccessSigner
    private var entries: [String: Entry] = [:]

    public init(_ signer: SharedAccessSigner) { self.signer = signer }

    /// A token for the audience that is valid for some minutes from now at least.
    public mutating func token(for audience: String, now: Timestamp) -> String {
        if let entry = entries[audience], now + Self.remainder < entry.expiresAt, entry.expiresAt <= now + Self.lifetime {
            return entry.token
        }
        if entries.count >= Self.capacity { entries.removeAll() }
        let expiresAt = now + Self.lifetime
        let token = signer.token(audience: audience, expiresAt: expiresAt)
        entries[audience] = Entry(token: token, expiresAt: expiresAt)
        return token
    }

    /// Forgets all tokens, for example after the server called one expired.
    public mutating func removeAll() { entries = [:] }
}
