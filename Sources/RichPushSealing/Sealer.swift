import RichPushModel

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Seals one message, as its sender: content once, under a key of this message alone, and that key for each recipient.
///
/// X25519, HKDF with SHA-256 and ChaCha20-Poly1305 (RFC 7748, 5869, 8439). What comes out may be stored and carried by anybody.
public struct Sealer: Sendable {
    /// The most installations that one seal is for.
    public static let recipientLimit = 100
    /// The most bytes of a thumb: a service extension has little memory (Reference/IOSClient.md#6).
    public static let thumbLimit = 500 << 10
    /// The most bytes of a content.
    public static let contentLimit = 50 << 20

    private let key: SymmetricKey
    private let words: SealedWords
    private let thumb: Data
    /// The sealed content, to be stored on the server as it is; absent when the words are all.
    public let content: Data?

    /// Seals content and thumb. Throws `badSize` for an empty or too large one.
    public init(words: SealedWords, content: SealingPart? = nil, thumb: SealingPart? = nil) throws(SealingError) {
        let key = SymmetricKey(size: .bits256)
        var words = words
        words.content = content?.descriptor
        words.thumb = thumb?.descriptor
        self.key = key
        self.words = words
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

    /// The envelope for one notification: the wrapped keys, the sealed words and the sealed thumb. It opens under this number
    /// only; when the server has given the number to another, ask for one more envelope and upload that.
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
        guard let words = try? sealedWords(for: id),
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

    /// Filled up with blanks, so that the length tells little of what they say.
    private func sealedWords(for id: RichID) throws -> Data {
        var json = try JSONEncoder().encode(words)
        json += Data(repeating: UInt8(ascii: " "), count: (256 - json.count % 256) % 256)
        return try ChaChaPoly.seal(
            json, using: SealingDerivation.key(for: .words, of: key), authenticating: SealingDerivation.wordsData(id)
        ).combined
    }
}
