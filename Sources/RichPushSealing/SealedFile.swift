import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// A file that is read or written from its beginning to its end.
final class SealedFile {
    private var handle: UnsafeMutablePointer<FILE>?

    init?(reading file: URL, from offset: Int) {
        guard let handle = fopen(file.path, "rb") else { return nil }
        self.handle = handle
        guard fseek(handle, offset, SEEK_SET) == 0 else { return nil }
    }

    init?(writing file: URL) {
        guard let handle = fopen(file.path, "wb") else { return nil }
        self.handle = handle
    }

    deinit { if let handle { fclose(handle) } }

    /// At most so many bytes; fewer only at the end.
    func read(_ count: Int) throws(SealingError) -> Data {
        guard let handle else { throw .file }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = fread(&bytes, 1, count, handle)
        guard ferror(handle) == 0 else { throw .file }
        return Data(bytes[..<read])
    }

    func write(_ data: Data) throws(SealingError) {
        guard let handle else { throw .file }
        let bytes = [UInt8](data)
        guard fwrite(bytes, 1, bytes.count, handle) == bytes.count else { throw .file }
    }

    func close() throws(SealingError) {
        guard let open = handle else { throw .file }
        handle = nil
        guard fclose(open) == 0 else { throw .file }
    }
}

/// Bytes sealed in pieces, so that a device opens a long film with little memory: every piece is 64 KiB with a tag of 16 bytes,
/// its nonce counts, and the last one's nonce says so. Pieces that are missing, swapped or added do not open.
enum SealedStream {
    /// Format, version, and that it is a content.
    static let contentMark = Data("CLRNSEAL\u{1}C".utf8)
    private static let piece = 64 << 10
    private static let tag = 16

    /// The size of `count` bytes after sealing, without the mark.
    static func sealedCount(of count: Int64) -> Int64 {
        let pieces = max(1, (count + Int64(piece) - 1) / Int64(piece))
        return count + pieces * Int64(tag)
    }

    /// Seals bytes under a key that is used for nothing else.
    static func sealed(_ bytes: Data, with key: SymmetricKey) throws(SealingError) -> Data {
        var sealed = Data(capacity: bytes.count + (bytes.count / piece + 1) * tag)
        var rest = bytes[...]
        var index: UInt64 = 0
        repeat {
            let next = rest.prefix(piece)
            rest = rest.dropFirst(piece)
            guard let nonce = nonce(index, isLast: rest.isEmpty),
                let box = try? ChaChaPoly.seal(next, using: key, nonce: nonce)
            else { throw .broken }
            sealed += box.ciphertext
            sealed += box.tag
            index += 1
        } while !rest.isEmpty
        return sealed
    }

    /// Opens a file from `offset` to its end into another file. If it throws, `target` must not be used.
    static func open(_ source: URL, from offset: Int, with key: SymmetricKey, to target: URL) throws(SealingError) {
        guard let input = SealedFile(reading: source, from: offset), let output = SealedFile(writing: target) else { throw .file }
        var current = try input.read(piece + tag)
        guard !current.isEmpty else { throw .broken }
        var index: UInt64 = 0
        while !current.isEmpty {
            let next = try input.read(piece + tag)
            try output.write(try opened(current, index, isLast: next.isEmpty, key))
            current = next
            index += 1
        }
        try output.close()
    }

    private static func opened(
        _ sealed: Data, _ index: UInt64, isLast: Bool, _ key: SymmetricKey
    ) throws(SealingError) -> Data {
        guard sealed.count > tag, let nonce = nonce(index, isLast: isLast),
            let box = try? ChaChaPoly.SealedBox(nonce: nonce, ciphertext: sealed.dropLast(tag), tag: sealed.suffix(tag)),
            let plain = try? ChaChaPoly.open(box, using: key)
        else { throw .broken }
        return plain
    }

    private static func nonce(_ index: UInt64, isLast: Bool) -> ChaChaPoly.Nonce? {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
        return try? ChaChaPoly.Nonce(data: Data([0, 0, 0] + counter + [isLast ? 1 : 0]))
    }
}

extension MediaFormat {
    private static let endings: [String: MediaFormat] = [
        "png": .png, "jpg": .jpeg, "jpeg": .jpeg, "gif": .gif, "webp": .webp, "heic": .heic, "mp3": .mp3, "m4a": .m4a,
        "wav": .wav, "aiff": .aiff, "aif": .aiff, "caf": .caf, "mp4": .mp4, "m4v": .mp4, "mov": .quickTime, "mpg": .mpeg,
        "mpeg": .mpeg, "pdf": .pdf, "txt": .plainText,
    ]

    /// The type that a sender declares for a file of this name; `nil` for an ending that no device accepts. Devices check the bytes.
    public init?(fileName: String) {
        guard let ending = fileName.split(separator: ".").dropFirst().last,
            let format = Self.endings[ending.lowercased()]
        else { return nil }
        self = format
    }
}
