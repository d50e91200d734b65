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

/// Bytes sealed in pieces, so that a device opens a long film with little memory: every piece is 64 KiB with a tag of 16 bytes,
/// its nonce counts, and the last one's nonce says so. Pieces that are missing, swapped or added do not open.
enum SealedStream {
    /// Format, version, and that it is a content.
    static let contentMark = Data("CLRNSEAL\u{1}C".utf8)
    private static let piece = 64 << 10
    private static let tag = 16

    /// How many bytes so many are when they are sealed, without the mark.
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

    /// Opens what lies in a file from `offset` to its end, into another file. Nothing of the target is of use when it throws.
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
