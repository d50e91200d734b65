import Crypto
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A place in the chain: how many entries there are up to here, and the hash of the last one. `size` counts pruned entries too.
public struct AuditHead: Hashable, Sendable {
    public var size: Int64
    public var hash: [UInt8]

    /// Creates a head.
    public init(size: Int64, hash: [UInt8]) {
        self.size = size
        self.hash = hash
    }

    /// The head of an audit without entries.
    public static let empty = AuditHead(size: 0, hash: Array(repeating: 0, count: 32))

    /// The head after one more entry: SHA-256 over a domain word, the hash before, and each field with its length in front, so that no
    /// two entries have one text.
    public func appending(_ entry: AuditEntry) -> AuditHead {
        var hash = SHA256()
        hash.update(data: Array("clarion audit entry 1\n".utf8))
        hash.update(data: self.hash)
        let fields: [[UInt8]] = [
            Self.bytes(size + 1), Array(entry.id.utf8), Self.bytes(entry.at.milliseconds), Array(entry.action.rawValue.utf8),
            Array(entry.actorKind.utf8), entry.actor.commitment, entry.subject.commitment, Array(entry.object.utf8),
            entry.details.commitment,
        ]
        for field in fields {
            hash.update(data: Self.bytes(Int64(field.count)))
            hash.update(data: field)
        }
        return AuditHead(size: size + 1, hash: Array(hash.finalize()))
    }

    private static func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

/// A signed head: a note as in C2SP's signed-note (https://c2sp.org/signed-note), with an origin of its own, since the chain is a list
/// and no Merkle tree. A reader who keeps one elsewhere can show later that nothing before it was changed.
public struct AuditCheckpoint: Hashable, Sendable {
    public var head: AuditHead
    /// The note as a whole.
    public var note: String

    static let origin = "clarion.audit/1"

    /// Signs a head.
    public init(_ head: AuditHead, with key: AuditSigningKey) throws {
        let text = Self.text(of: head)
        let signature = try key.signature(of: Array(text.utf8))
        self.head = head
        note = "\(text)\n— \(Self.origin) \(Data(key.publicKey.hint + signature).base64EncodedString())\n"
    }

    /// Reads a note, without a look at its signature; `nil` when it is none of an audit.
    public init?(note: String) {
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 6, lines[0] == Self.origin, let size = Int64(lines[1]), size >= 0,
            let hash = Data(base64Encoded: String(lines[2])), hash.count == 32, lines[3].isEmpty, lines[5].isEmpty
        else { return nil }
        head = AuditHead(size: size, hash: Array(hash))
        self.note = note
    }

    /// Whether the key signed it.
    public func isSigned(by key: AuditPublicKey) -> Bool {
        let text = Self.text(of: head)
        let prefix = "\(text)\n— \(Self.origin) "
        guard note.hasPrefix(prefix), let signature = Data(base64Encoded: String(note.dropFirst(prefix.count).dropLast())),
            signature.count == 4 + 64, Array(signature.prefix(4)) == key.hint
        else { return false }
        return key.verifies(Array(signature.dropFirst(4)), of: Array(text.utf8))
    }

    private static func text(of head: AuditHead) -> String {
        "\(origin)\n\(head.size)\n\(Data(head.hash).base64EncodedString())\n"
    }
}

/// The key under which a server signs its checkpoints (Ed25519, RFC 8032).
public struct AuditSigningKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// Takes the 32 bytes of a seed.
    public init(seed: some ContiguousBytes) throws { key = try Curve25519.Signing.PrivateKey(rawRepresentation: seed) }

    /// What verifies the signatures.
    public var publicKey: AuditPublicKey { AuditPublicKey(key.publicKey) }

    func signature(of bytes: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: bytes)) }
}

extension AuditSigningKey: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "audit signing key (not shown)" }
    public var debugDescription: String { description }
}

/// The public key of an audit. Its text is the Base64 of 32 bytes.
public struct AuditPublicKey: Hashable, Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    init(_ key: Curve25519.Signing.PublicKey) { bytes = Array(key.rawRepresentation) }

    /// Reads the text; `nil` when it is no such key.
    public init?(text: String) {
        guard let data = Data(base64Encoded: text), data.count == 32,
            (try? Curve25519.Signing.PublicKey(rawRepresentation: data)) != nil
        else { return nil }
        bytes = Array(data)
    }

    public var description: String { Data(bytes).base64EncodedString() }

    /// The four bytes by which a signed note names the key: SHA-256 of origin, line break, 0x01 (Ed25519) and key.
    var hint: [UInt8] {
        Array(SHA256.hash(data: Array("\(AuditCheckpoint.origin)\n\u{1}".utf8) + bytes).prefix(4))
    }

    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        (try? Curve25519.Signing.PublicKey(rawRepresentation: self.bytes))?.isValidSignature(signature, for: bytes) ?? false
    }
}
