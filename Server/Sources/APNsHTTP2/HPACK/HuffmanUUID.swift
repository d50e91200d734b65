#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a Huffman-coded UUID at once, without a string between (RFC 7541, 5.2).
enum HuffmanUUID {
    private static let hyphen: UInt8 = 16
    private static let invalid: UInt8 = 0xFF

    /// What the next seven bits say: the longest code of the characters of a UUID has seven.
    private static let table: [(value: UInt8, length: UInt8)] = {
        var table = [(value: UInt8, length: UInt8)](repeating: (invalid, 1), count: 128)
        for (value, character) in Array("0123456789abcdef-ABCDEF".utf8).enumerated() {
            let (code, length) = HuffmanCode.encoding[Int(character)]
            let first = Int(code) << (7 - Int(length))
            // The capitals come after the hyphen and mean ten and more.
            let meaning = value > Int(hyphen) ? UInt8(value - 7) : UInt8(value)
            for entry in first..<(first + 1 << (7 - Int(length))) { table[entry] = (meaning, length) }
        }
        return table
    }()

    /// The UUID in 8-4-4-4-12 form of either case; `nil` for anything else.
    static func decode(_ coded: UnsafeRawBufferPointer) -> UUID? {
        table.withUnsafeBufferPointer { table in
            var bits: UInt64 = 0
            var available = 0
            var offset = 0
            var halves: (UInt64, UInt64) = (0, 0)
            for position in 0..<36 {
                if available < 7 {
                    if coded.count - offset >= 4 {
                        let word = coded.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                        bits = bits << 32 | UInt64(UInt32(bigEndian: word))
                        offset += 4
                        available += 32
                    } else if offset < coded.count {
                        bits = bits << 8 | UInt64(coded[offset])
                        offset += 1
                        available += 8
                    }
                }
                // Past the end the code goes on with ones, as the padding does.
                let next =
                    available >= 7 ? bits >> UInt64(available - 7) : bits << UInt64(7 - available) | 0x7F >> UInt64(available)
                let entry = table[Int(next & 0x7F)]
                available -= Int(entry.length)
                let isHyphen = position == 8 || position == 13 || position == 18 || position == 23
                guard available >= 0, isHyphen ? entry.value == hyphen : entry.value < 16 else { return nil }
                guard !isHyphen else { continue }
                halves.0 = halves.0 << 4 | halves.1 >> 60
                halves.1 = halves.1 << 4 | UInt64(entry.value)
            }
            // What is left is padding: less than a byte, and ones only.
            let padding = UInt64(1) << UInt64(available) - 1
            guard offset == coded.count, available < 8, bits & padding == padding else { return nil }
            let bigEndian = (halves.0.bigEndian, halves.1.bigEndian)
            return withUnsafeBytes(of: bigEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
    }
}
