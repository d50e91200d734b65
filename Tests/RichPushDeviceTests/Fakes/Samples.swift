#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif
import Foundation
import RichPushModel

/// The id with this number.
func id(_ number: Int32) -> RichID { RichID(number: number)! }

enum Samples {
    /// Bytes that begin like a PNG, different for each seed.
    static func png(_ seed: UInt8, count: Int = 2_000) -> Data {
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data((0..<count).map { UInt8(truncatingIfNeeded: $0) ^ seed })
    }

    static func descriptor(_ bytes: Data, _ mediaType: String = "image/png") -> ContentDescriptor {
        let digest = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
        return ContentDescriptor(mediaType: mediaType, byteCount: Int64(bytes.count), sha256: digest)
    }

    static func entry(
        _ number: Int32, kind: ContentKind = .image, bytes: Data?, mediaType: String = "image/png", title: String? = "Title",
        message: String = "Words", thumb: Data? = nil
    ) -> InboxEntry {
        InboxEntry(
            id: id(number), kind: kind, title: title, message: message, altText: "A picture",
            sentAt: Timestamp(milliseconds: 1_800_000_000_000 + Int64(number)), content: bytes.map { descriptor($0, mediaType) },
            thumb: thumb.map { descriptor($0, mediaType) })
    }

    static func silent(_ number: Int32, kind: ContentKind = .image, message: String = "Push words") -> PushEnvelope {
        PushEnvelope(id: id(number), kind: kind, message: message, hasAlert: false, wakesApp: true)
    }

    static func visible(_ number: Int32) -> PushEnvelope {
        PushEnvelope(id: id(number), kind: .image, hasAlert: true, wakesApp: true)
    }
}
