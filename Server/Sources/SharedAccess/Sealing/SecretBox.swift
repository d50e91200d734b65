import Crypto
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Seals secrets for storage with AES-256-GCM: who reads the database learns nothing, and who writes it can move no sealed text to
/// another place, because the place is part of what is authenticated.
///
/// The text form is `v1.key-id.data`, data being nonce, cipher text and tag in URL-safe Base64.
public struct SecretBox: Sendable {
    /// The most bytes of one secret.
    public static let maximumLength = 1 << 20

    private static let version = "v1"

    private let current: (id: String, key: SymmetricKey)
    private let keys: [String: SymmetricKey]

    /// A box that seals with `key` and opens also what was sealed with the older ones.
    public init(_ key: MasterKey, older: [MasterKey] = []) {
        current = (key.id, key.derivedKey(for: "secret box"))
        keys = Dictionary((older + [key]).map { ($0.id, $0.derivedKey(for: "secret box")) }) { $1 }
    }

    /// The id of the key that seals.
    public var keyID: String { current.id }

    /// Seals a secret for one purpose, for example `hub 3 rule 7 primary`. Twice the same secret gives two texts.
    public func seal(_ secret: some Collection<UInt8>, for purpose: String) throws(SealingFault) -> String {
        guard secret.count <= Self.maximumLength else { throw .malformed }
        do {
            let box = try AES.GCM.seal(
                Array(secret), using: current.key, authenticating: Self.authenticated(purpose, current.id))
            guard let combined = box.combined else { throw SealingFault.malformed }
            return "\(Self.version).\(current.id).\(Base64URL.text(of: Array(combined)))"
        } catch {
            throw .malformed
        }
    }

    /// Seals a text.
    public func seal(_ secret: String, for purpose: String) throws(SealingFault) -> String {
        try seal(Array(secret.utf8), for: purpose)
    }

    /// The secret, if it was sealed for this purpose with a key of this box.
    public func open(_ sealed: String, for purpose: String) throws(SealingFault) -> [UInt8] {
        let parts = sealed.split(separator: ".", omittingEmptySubsequences: false)
        guard sealed.utf8.count <= 2 * Self.maximumLength, parts.count == 3, parts[0] == Self.version,
            let data = Base64URL.bytes(of: parts[2]), parts[1].utf8.count == 8
        else { throw .malformed }
        let id = String(parts[1])
        guard let key = keys[id] else { throw .unknownKey(id) }
        do {
            let box = try AES.GCM.SealedBox(combined: data)
            return Array(try AES.GCM.open(box, using: key, authenticating: Self.authenticated(purpose, id)))
        } catch {
            throw .notAuthentic
        }
    }

    /// The secret as a text.
    public func openText(_ sealed: String, for purpose: String) throws(SealingFault) -> String {
        guard let text = String(validating: try open(sealed, for: purpose), as: UTF8.self) else { throw .malformed }
        return text
    }

    private static func authenticated(_ purpose: String, _ id: String) -> [UInt8] { Array("\(version)\n\(id)\n\(purpose)".utf8) }
}

extension SecretBox: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "secret box under master key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
