#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a UUID that was not Huffman-coded, eight digits at a time.
enum PlainUUID {
    /// The UUID in 8-4-4-4-12 form of either case; `nil` for anything else.
    static func decode(_ text: UnsafeRawBufferPointer) -> UUID? {
        let hyphen = UInt8(ascii: "-")
        guard text.count == 36, text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen,
            let first = value(eight(text, 0)), let second = value(four(text, 9) << 32 | four(text, 14)),
            let third = value(four(text, 19) << 32 | four(text, 24)), let fourth = value(eight(text, 28))
        else { return nil }
        let bigEndian = ((first << 32 | second).bigEndian, (third << 32 | fourth).bigEndian)
        return withUnsafeBytes(of: bigEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    @inline(__always)
    private static func eight(_ text: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(bigEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func four(_ text: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(UInt32(bigEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// What eight hexadecimal digits say, the first of them in the uppermost byte.
    ///
    /// A letter is nine more than the lower half of its byte, and no digit has its bit 6. What the values would be written as, in
    /// lower case, is then compared with what stands there, so anything else falls out.
    @inline(__always)
    private static func value(_ digits: UInt64) -> UInt64? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let letters = digits >> 6 & ones
        let values = (digits & (ones * 0x0F)) &+ letters &* 9
        let isTenOrMore = (values &+ ones &* 6) >> 4 & ones
        let written = values &+ ones &* 0x30 &+ isTenOrMore &* 0x27
        guard values & (ones &* 0x10) == 0, written == digits | letters << 5 else { return nil }
        let pairs = (values | values >> 4) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return (fours | fours >> 16) & 0xFFFF_FFFF
    }
}
