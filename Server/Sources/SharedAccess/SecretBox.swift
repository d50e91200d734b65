import Crypto
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Seals secrets for storage with AES-256-GCM. A reader of the database learns nothing. A writer cannot move a sealed text to another
/// place, because the place is authenticated.
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

/// Why a sealed text does not open.
public enum SealingFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is not a sealed text of a version that is known here.
    case malformed
    /// It was sealed under a master key that this node does not have; the value is that key's id.
    case unknownKey(String)
    /// It was changed, or it was sealed for another purpose.
    case notAuthentic

    public var description: String {
        switch self {
        case .malformed: "the sealed text is damaged"
        case .unknownKey(let id): "it was sealed under another master key (\(id))"
        case .notAuthentic: "the sealed text was changed, or belongs somewhere else"
        }
    }
}

/// The key under which a node keeps the secrets of its hubs: 32 random bytes. Never printed.
public struct MasterKey: Sendable {
    private static let length = 32
    private let bytes: [UInt8]

    /// Reads the Base64 text of 32 bytes; blanks and line breaks, as files have them, do not count; `nil` for anything else.
    public init?(text: String) {
        let trimmed = text.filter { !$0.isWhitespace }
        guard trimmed.utf8.count == 44, let data = Data(base64Encoded: trimmed), data.count == Self.length else { return nil }
        bytes = Array(data)
    }

    private init(random bytes: [UInt8]) { self.bytes = bytes }

    /// A new key.
    public static func random() -> MasterKey { MasterKey(random: RandomBytes.make(length)) }

    /// The text to keep. For its file only; never log it.
    public var text: String { Data(bytes).base64EncodedString() }

    /// Identifies this key without revealing it: eight hexadecimal digits of a digest.
    public var id: String {
        let digest = SHA256.hash(data: Array("clarion master key id\n".utf8) + bytes)
        return Hexadecimal.text(of: digest.prefix(4))
    }

    /// The seed of the key that signs the audit's checkpoints.
    public var auditSeed: SymmetricKey { derivedKey(for: "audit signing") }

    /// The key of one purpose's family, so that the master key itself encrypts nothing and can serve for more than sealing.
    func derivedKey(for use: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes), info: Array("clarion \(use)".utf8), outputByteCount: Self.length)
    }
}

extension MasterKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "master key \(id) (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
