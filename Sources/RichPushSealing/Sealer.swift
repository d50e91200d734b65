import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Seals one message for its sender: the content once, under a key of this message alone, and that key for each recipient.
///
/// X25519, HKDF with SHA-256 and ChaCha20-Poly1305 (RFC 7748, 5869, 8439). Untrusted parties may store and carry the result.
public struct Sealer: Sendable {
    /// The most installations that one seal is for.
    public static let recipientLimit = 100
    /// The most bytes of a thumb: a service extension has little memory (Reference/IOSClient.md#6).
    public static let thumbLimit = 500 << 10
    /// The most bytes of a content.
    public static let contentLimit = 50 << 20

    private let key: SymmetricKey
    private let text: SealedText
    private let thumb: Data
    /// The sealed content, to be stored on the server as it is; absent when there is only text.
    public let content: Data?

    /// Seals content and thumb. Throws `badSize` for an empty or too large one.
    public init(text: SealedText, content: SealingPart? = nil, thumb: SealingPart? = nil) throws(SealingError) {
        let key = SymmetricKey(size: .bits256)
        var text = text
        text.content = content?.descriptor
        text.thumb = thumb?.descriptor
        self.key = key
        self.text = text
        self.content = try content.map { part throws(SealingError) in
            guard (1...Self.contentLimit).contains(part.bytes.count) else { throw .badSize }
            return try SealedStream.contentMark
                + SealedStream.sealed(part.bytes, with: SealingDerivation.key(for: .content, of: key))
        }
        self.thumb =
            try thumb.map { part throws(SealingError) in
                guard (1...Self.thumbLimit).contains(part.bytes.count) else { throw .badSize }
                return try SealedStream.sealed(part.bytes, with: SealingDerivation.key(for: .thumb, of: key))
            } ?? Data()
    }

    /// The envelope for one notification: the wrapped keys, the sealed text and the sealed thumb. It opens under this number only; when
    /// the server has given the number to another send, make another envelope and upload that.
    ///
    /// Throws `badRecipients` for none, for more than `recipientLimit` and for one named twice, and `badKey`.
    public func envelope(for id: RichID, to recipients: [SealingRecipient]) throws(SealingError) -> Data {
        guard (1...Self.recipientLimit).contains(recipients.count),
            Set(recipients.map(\.installation)).count == recipients.count, Set(recipients.map(\.key)).count == recipients.count
        else { throw .badRecipients }
        let ephemeral = Curve25519.KeyAgreement.PrivateKey()
        let sender = ephemeral.publicKey.rawRepresentation
        var wraps: [String: Data] = [:]
        for recipient in recipients {
            let hint = SealingDerivation.hint(ephemeral: sender, recipient: recipient.key)
            wraps[hint] = try wrapped(for: recipient, id, ephemeral, sender)
        }
        guard let words = try? sealedText(for: id),
            let head = try? JSONEncoder().encode(EnvelopeHead(ephemeral: sender, wraps: wraps, words: words)),
            head.count <= EnvelopeHead.limit
        else { throw .badSize }
        return EnvelopeHead.mark + EnvelopeHead.length(head.count) + head + thumb
    }

    private func wrapped(
        for recipient: SealingRecipient, _ id: RichID, _ ephemeral: Curve25519.KeyAgreement.PrivateKey, _ sender: Data
    ) throws(SealingError) -> Data {
        let secret = try SealingDerivation.secret(of: ephemeral, with: recipient.key.bytes)
        do {
            let wrappingKey = SealingDerivation.wrappingKey(secret, ephemeral: sender, recipient: recipient.key)
            // Each wrapping key is used once, so the nonce may always be the same.
            let box = try ChaChaPoly.seal(
                key.withUnsafeBytes { Data($0) }, using: wrappingKey, nonce: ChaChaPoly.Nonce(data: Data(count: 12)),
                authenticating: SealingDerivation.wrapData(id, recipient.installation))
            return box.ciphertext + box.tag
        } catch {
            throw .badKey
        }
    }

    /// Padded with blanks, so that the length reveals little about the text.
    private func sealedText(for id: RichID) throws -> Data {
        var json = try JSONEncoder().encode(text)
        json += Data(repeating: UInt8(ascii: " "), count: (256 - json.count % 256) % 256)
        return try ChaChaPoly.seal(
            json, using: SealingDerivation.key(for: .text, of: key), authenticating: SealingDerivation.textData(id)
        ).combined
    }
}

/// One of those who can open a seal: an installation and its public key.
public struct SealingRecipient: Hashable, Sendable {
    public var installation: InstallationID
    public var key: SealingPublicKey

    /// Names a recipient.
    public init(installation: InstallationID, key: SealingPublicKey) {
        self.installation = installation
        self.key = key
    }
}

/// A file to seal, with what the sender says of it.
public struct SealingPart: Sendable {
    public var bytes: Data
    public var format: MediaFormat
    /// The name that its readers see; never a path.
    public var fileName: String?

    /// Creates a part.
    public init(bytes: Data, format: MediaFormat, fileName: String? = nil) {
        self.bytes = bytes
        self.format = format
        self.fileName = fileName
    }

    var descriptor: ContentDescriptor {
        ContentDescriptor(
            mediaType: format.rawValue, byteCount: Int64(bytes.count),
            sha256: SealingDerivation.hexadecimal(SHA256.hash(data: bytes)), fileName: fileName)
    }
}

/// How the keys of a seal come from one another, and what is authenticated with them (Reference/IOSClient.md#10).
///
/// Every text begins with the name and version of the format, so that a key or a tag of one purpose is none of another.
enum SealingDerivation {
    static let name = "clarion seal 1"

    /// What a key of the seal is for.
    enum Purpose: String {
        case text = "words"
        case thumb, content
    }

    /// The key for one purpose, from the seal's own.
    static func key(for purpose: Purpose, of seal: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: seal, salt: Data(), info: Data("\(name) \(purpose.rawValue)".utf8), outputByteCount: 32)
    }

    /// The key that wraps the seal's own for one recipient. Both public keys are in it, so that it belongs to these two alone.
    static func wrappingKey(
        _ secret: SharedSecret, ephemeral: Data, recipient: SealingPublicKey
    ) -> SymmetricKey {
        secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: ephemeral + recipient.bytes, sharedInfo: Data("\(name) wrap".utf8), outputByteCount: 32)
    }

    /// What two keys agree on. With a point of small order it is zero for every key (RFC 7748, 6.1), so zero is refused.
    static func secret(
        of own: Curve25519.KeyAgreement.PrivateKey, with other: Data
    ) throws(SealingError) -> SharedSecret {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: other),
            let secret = try? own.sharedSecretFromKeyAgreement(with: key),
            secret.withUnsafeBytes({ $0.contains { $0 != 0 } })
        else { throw .badKey }
        return secret
    }

    /// Binds a wrapped key to its notification and its installation.
    static func wrapData(_ id: RichID, _ installation: InstallationID) -> Data {
        Data("\(name)\nwrap\n\(id)\n\(installation)".utf8)
    }

    /// Binds the text to its notification.
    static func textData(_ id: RichID) -> Data { Data("\(name)\nwords\n\(id)".utf8) }

    /// The name under which a recipient finds their wrapped key. It differs in every seal, so it reveals recipients only to the server,
    /// which knows them anyway.
    static func hint(ephemeral: Data, recipient: SealingPublicKey) -> String {
        hexadecimal(SHA256.hash(data: Data("\(name) hint".utf8) + ephemeral + recipient.bytes).prefix(8))
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Why something could not be sealed or opened. It never says what was inside.
public enum SealingError: Error, Hashable, Sendable {
    /// A seal has 1 to `Sealer.recipientLimit` recipients, each named once.
    case badRecipients
    /// A key is 32 bytes in base64, and one of the few points that give no secret is refused.
    case badKey
    /// What is to be sealed is larger than a device takes, or empty.
    case badSize
    /// It is sealed for other keys than this one.
    case notForThisKey
    /// The bytes are not what was sealed: damaged, cut, or moved to another notification.
    case broken
    /// A file could not be read or written.
    case file
}
