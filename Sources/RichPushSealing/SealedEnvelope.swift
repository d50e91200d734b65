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

/// An envelope as it came from the server, in a file.
public struct SealedEnvelope: Sendable {
    /// The most bytes of an envelope that a device accepts: the longest head and the largest thumb.
    public static let limit = Int64(EnvelopeHead.limit + Sealer.thumbLimit + 4_096)

    private let file: URL
    private let head: EnvelopeHead
    private let thumbOffset: Int

    /// Reads the public part. Throws `broken` for anything that is no envelope, and `file`.
    public init(_ file: URL) throws(SealingError) {
        guard let input = SealedFile(reading: file, from: 0) else { throw .file }
        let mark = try input.read(EnvelopeHead.mark.count)
        let length = try input.read(4).reduce(0) { $0 << 8 | Int($1) }
        guard mark == EnvelopeHead.mark, (1...EnvelopeHead.limit).contains(length) else { throw .broken }
        let json = try input.read(length)
        guard json.count == length, let head = try? JSONDecoder().decode(EnvelopeHead.self, from: json),
            head.ephemeral.count == 32, head.wraps.count <= Sealer.recipientLimit
        else { throw .broken }
        self.file = file
        self.head = head
        thumbOffset = mark.count + 4 + length
    }

    /// Opens it with the device's key, for the notification that it came with. Throws `notForThisKey` and `broken`.
    public func open(
        for id: RichID, installation: InstallationID, with key: SealingPrivateKey
    ) throws(SealingError) -> OpenedSeal {
        let seal = try sealKey(for: id, installation, key)
        guard let box = try? ChaChaPoly.SealedBox(combined: head.words),
            let json = try? ChaChaPoly.open(
                box, using: SealingDerivation.key(for: .text, of: seal), authenticating: SealingDerivation.textData(id)),
            let text = try? JSONDecoder().decode(SealedText.self, from: json)
        else { throw .broken }
        return OpenedSeal(text: text, key: seal, envelope: file, thumbOffset: thumbOffset)
    }

    private func sealKey(
        for id: RichID, _ installation: InstallationID, _ key: SealingPrivateKey
    ) throws(SealingError) -> SymmetricKey {
        let own = key.publicKey
        guard let wrap = head.wraps[SealingDerivation.hint(ephemeral: head.ephemeral, recipient: own)] else {
            throw .notForThisKey
        }
        guard wrap.count == 48, let secret = try? SealingDerivation.secret(of: key.key, with: head.ephemeral),
            let nonce = try? ChaChaPoly.Nonce(data: Data(count: 12)),
            let box = try? ChaChaPoly.SealedBox(nonce: nonce, ciphertext: wrap.dropLast(16), tag: wrap.suffix(16)),
            let bytes = try? ChaChaPoly.open(
                box, using: SealingDerivation.wrappingKey(secret, ephemeral: head.ephemeral, recipient: own),
                authenticating: SealingDerivation.wrapData(id, installation))
        else { throw .broken }
        return SymmetricKey(data: bytes)
    }
}

/// An envelope that this device could open.
public struct OpenedSeal: Sendable {
    public let text: SealedText
    let key: SymmetricKey
    let envelope: URL
    let thumbOffset: Int

    /// The size of the sealed content, as the sender declared it inside the seal; absent when there is no content. To be compared with
    /// the stored size before the content is fetched.
    public var storedByteCount: Int64? {
        // Far more than any content; the bound keeps the sum from overflowing.
        guard let count = text.content?.byteCount, (0...(1 << 50)).contains(count) else { return nil }
        return Int64(SealedStream.contentMark.count) + SealedStream.sealedCount(of: count)
    }

    /// Writes the small picture. `target` is complete and genuine only when this does not throw.
    public func writeThumb(to target: URL) throws(SealingError) {
        guard text.thumb != nil else { throw .broken }
        try SealedStream.open(envelope, from: thumbOffset, with: SealingDerivation.key(for: .thumb, of: key), to: target)
    }

    /// Opens the sealed content that lies at `source` into `target`, as above.
    public func writeContent(from source: URL, to target: URL) throws(SealingError) {
        let mark = SealedStream.contentMark
        guard let input = SealedFile(reading: source, from: 0) else { throw .file }
        guard try input.read(mark.count) == mark else { throw .broken }
        try SealedStream.open(source, from: mark.count, with: SealingDerivation.key(for: .content, of: key), to: target)
    }
}

/// The public part of an envelope: it names no recipient and holds no plain text. On the wire: a mark, the length of this JSON in four
/// bytes, the JSON, and the sealed thumb to the end.
struct EnvelopeHead: Codable {
    /// The sender's public key, made for this envelope.
    var ephemeral: Data
    /// The seal's key for each recipient, by hint.
    var wraps: [String: Data]
    /// Nonce, sealed text, tag.
    var words: Data

    /// Format, version, and that it is an envelope.
    static let mark = Data("CLRNSEAL\u{1}E".utf8)
    /// The most bytes of the JSON: the longest text and a hundred recipients.
    static let limit = 128 << 10

    static func length(_ count: Int) -> Data { Data((0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }) }
}

/// The text of a sealed notification, which only its recipients can read. The sender declares all of it: the server checks nothing.
public struct SealedText: Hashable, Sendable, Codable {
    /// The actual kind; the server knows only `sealed`.
    public var kind: ContentKind
    public var title: String?
    public var subtitle: String?
    public var message: String
    public var altText: String?
    /// For kind `url`.
    public var link: String?
    /// For kind `coupon`.
    public var coupon: Coupon?
    /// The content before it was sealed; the sealer fills it in.
    public internal(set) var content: ContentDescriptor?
    /// The small picture before it was sealed; the sealer fills it in.
    public internal(set) var thumb: ContentDescriptor?

    /// Creates a text.
    public init(kind: ContentKind = .text, title: String? = nil, message: String) {
        self.kind = kind
        self.title = title
        self.message = message
    }
}
