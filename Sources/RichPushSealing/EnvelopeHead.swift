#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What everybody sees of an envelope: no recipient by name, no word in clear. On the wire a mark, the length of this JSON in
/// four bytes, the JSON, and the sealed thumb to the end.
struct EnvelopeHead: Codable {
    /// The sender's public key, made for this envelope.
    var ephemeral: Data
    /// The seal's key for each recipient, by hint.
    var wraps: [String: Data]
    /// Nonce, sealed words, tag.
    var words: Data

    /// Format, version, and that it is an envelope.
    static let mark = Data("CLRNSEAL\u{1}E".utf8)
    /// The most bytes of the JSON: words of the longest kind, and a hundred recipients.
    static let limit = 128 << 10

    static func length(_ count: Int) -> Data { Data((0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }) }
}
