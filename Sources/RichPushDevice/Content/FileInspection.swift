import RichPushModel

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
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
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

/// Digests as text.
enum DigestText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two lower-case digits for each byte.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// SHA-256 of a text: a file name that no text can break out of.
    static func digest(_ text: String) -> String { self.text(SHA256.hash(data: Data(text.utf8))) }
}
