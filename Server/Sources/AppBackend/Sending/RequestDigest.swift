import Crypto
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The digest by which a repeat of a request is told from another request under the same idempotency key.
enum RequestDigest {
    private struct Meaning: Encodable {
        var form: String
        var request: SendRequest
        var content: [String?]
        var thumb: [String?]
    }

    /// Contents count by their bytes and not by their ids: a repeat that carries the content in the same request stores it
    /// again, under a new id.
    static func digest(
        form: String, request: SendRequest, content: ContentRecord?, thumb: ContentRecord?
    ) throws -> [UInt8] {
        var request = request
        request.contentID = nil
        request.thumbID = nil
        let meaning = Meaning(
            form: form, request: request, content: [content?.digest.text, content?.mediaType, content?.fileName],
            thumb: [thumb?.digest.text, thumb?.mediaType])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(SHA256.hash(data: try encoder.encode(meaning)))
    }

    /// Whether a key has 1 to 128 visible ASCII characters.
    static func isKey(_ key: String) -> Bool {
        (1...128).contains(key.utf8.count) && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
