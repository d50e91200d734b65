import Crypto
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The secret with which the requests to one webhook are signed, in the form of Standard Webhooks
/// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). Never printed.
public struct WebhookSecret: Sendable {
    private static let prefix = "whsec_"
    private let key: SymmetricKey

    /// Reads `whsec_` and the Base64 of 24 to 64 bytes; `nil` for anything else.
    public init?(text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            (24...64).contains(bytes.count)
        else { return nil }
        key = SymmetricKey(data: bytes)
    }

    fileprivate init(key: SymmetricKey) { self.key = key }

    /// As a receiver's library takes it.
    public var text: String { Self.prefix + key.withUnsafeBytes { Data($0).base64EncodedString() } }

    /// The signature of scheme `v1`: HMAC-SHA256 of `id.seconds.body`, in Base64.
    ///
    /// - Parameter seconds: the moment of this attempt, in seconds since 1970.
    public func signature(id: String, seconds: Int64, body: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(id).\(seconds).".utf8) + body, using: key)
        return "v1,\(Data(code).base64EncodedString())"
    }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "webhook secret (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Derives the secrets of webhooks from the master key, so that the database holds none.
public struct WebhookSecrets: Sendable {
    private let key: SymmetricKey

    /// For all nodes that share a master key.
    public init(_ master: MasterKey) { key = master.derivedKey(for: "webhook secrets") }

    /// The secret of 32 bytes that belongs to a salt; a new salt makes a new secret.
    public func secret(salt: [UInt8]) -> WebhookSecret {
        WebhookSecret(
            key: HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key, salt: salt, info: Array("clarion webhook".utf8), outputByteCount: 32))
    }

    /// A salt of 16 random bytes.
    public static func randomSalt() -> [UInt8] { RandomBytes.make(16) }
}

extension WebhookSecrets: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "webhook secrets (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
