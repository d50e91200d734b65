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
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What is measured on a downloaded file, read in small pieces: the service extension has little memory.
struct FileInspection: Hashable, Sendable {
    var byteCount: Int64
    /// 64 lower-case hexadecimal digits.
    var sha256: String
    /// The first bytes, at most `MediaFormat.window`.
    var head: [UInt8]

    /// Reads a file; `nil` if that is not possible.
    init?(of file: URL) {
        guard let handle = fopen(file.path, "rb") else { return nil }
        defer { fclose(handle) }
        var hasher = SHA256()
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        byteCount = 0
        head = []
        while true {
            let count = fread(&piece, 1, piece.count, handle)
            if count == 0 { break }
            if head.count < MediaFormat.window { head += piece[..<min(count, MediaFormat.window - head.count)] }
            piece.withUnsafeBytes { hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            byteCount += Int64(count)
        }
        guard ferror(handle) == 0 else { return nil }
        sha256 = DigestText.text(hasher.finalize())
    }
}

/// Makes files that the system may move away and show with a notification.
struct AttachmentMaker: Sendable {
    let cache: any ContentCache
    let clock: any ServiceClock

    /// A copy of the content, or `nil` when the system does not accept its type or size (Reference/IOSClient.md#6).
    func attachment(for content: CachedContent, altText: String?, in session: Session) -> NotificationAttachment? {
        guard Self.isShowable(mediaType: content.mediaType, byteCount: content.byteCount),
            let copy = try? cache.copyForSystem(content, of: session.id, now: clock.now)
        else { return nil }
        return NotificationAttachment(file: copy, mediaType: content.mediaType, altText: altText)
    }

    /// Whether the system would show it.
    static func isShowable(mediaType: String, byteCount: Int64) -> Bool {
        guard let limit = MediaFormat(declared: mediaType)?.attachmentLimit else { return false }
        return byteCount <= limit
    }
}

extension MediaFormat {
    /// How many bytes of a file `matches` needs.
    static let window = 512

    /// Whether a file that begins like this can be of this type. Looks at bytes only, never at names.
    func matches(head: [UInt8]) -> Bool {
        switch self {
        case .png: head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        case .jpeg: head.starts(with: [0xFF, 0xD8, 0xFF])
        case .gif: Self.begins(head, "GIF87a") || Self.begins(head, "GIF89a")
        case .webp: Self.begins(head, "RIFF") && Self.word(head, at: 8) == "WEBP"
        case .wav: Self.begins(head, "RIFF") && Self.word(head, at: 8) == "WAVE"
        case .aiff: Self.begins(head, "FORM") && ["AIFF", "AIFC"].contains(Self.word(head, at: 8))
        case .mp3: Self.begins(head, "ID3") || (head.count > 1 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0)
        case .caf: Self.begins(head, "caff")
        case .m4a, .mp4, .quickTime, .heic: Self.word(head, at: 4) == "ftyp"
        case .mpeg: head.starts(with: [0x00, 0x00, 0x01, 0xBA]) || head.starts(with: [0x00, 0x00, 0x01, 0xB3])
        case .pdf: Self.begins(head, "%PDF-")
        case .sealed: head.starts(with: MediaFormat.sealMark)
        case .json: Self.isText(head) && head.first { !Self.blanks.contains($0) } == UInt8(ascii: "{")
        case .uriList, .plainText: Self.isText(head) && head.first { !Self.blanks.contains($0) } != UInt8(ascii: "<")
        }
    }

    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]

    private static func begins(_ head: [UInt8], _ text: String) -> Bool { head.starts(with: text.utf8) }

    private static func word(_ head: [UInt8], at offset: Int) -> String? {
        guard head.count >= offset + 4 else { return nil }
        return String(decoding: head[offset..<offset + 4], as: UTF8.self)
    }

    /// No control characters but tab and line ends.
    private static func isText(_ head: [UInt8]) -> Bool {
        head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || blanks.contains($0) || $0 == 0x0C }
    }
}
