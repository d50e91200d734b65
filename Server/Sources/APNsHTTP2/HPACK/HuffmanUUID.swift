#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a Huffman-coded UUID at once, without a string between (RFC 7541, 5.2).
enum HuffmanUUID {
    /// What the next 14 bits say when two hexadecimal digits of either case come: their byte in the lower half, and above it how
    /// many bits they have. The longest code of a digit has seven bits. 0 is anything else.
    private static let pairs: [UInt16] = {
        let digits = Array("0123456789abcdefABCDEF".utf8).map { digit in
            // A letter is nine more than the lower half of its character.
            (value: UInt16(digit & 0x0F) + (digit > 0x39 ? 9 : 0), code: HuffmanCode.encoding[Int(digit)])
        }
        var pairs = [UInt16](repeating: 0, count: 1 << 14)
        for high in digits {
            for low in digits {
                let length = Int(high.code.length + low.code.length)
                let code = Int(high.code.code) << Int(low.code.length) | Int(low.code.code)
                let first = code << (14 - length)
                let entry = high.value << 4 | low.value | UInt16(length) << 8
                for index in first..<(first + 1 << (14 - length)) { pairs[index] = entry }
            }
        }
        return pairs
    }()
    private static let hyphen = HuffmanCode.encoding[Int(UInt8(ascii: "-"))]

    /// The next bits of the code, the first of them uppermost. Past the end it goes on with ones, as the padding does.
    private struct Bits {
        let coded: UnsafeRawBufferPointer
        private var offset = 0
        private var bits: UInt64 = 0
        private var available = 0

        init(_ coded: UnsafeRawBufferPointer) { self.coded = coded }

        /// Makes at least 32 bits available, as long as there are any.
        @inline(__always)
        mutating func refill() {
            guard available < 32 else { return }
            if coded.count - offset >= 4 {
                let word = coded.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                bits |= UInt64(UInt32(bigEndian: word)) << UInt64(32 - available)
                offset += 4
                available += 32
            } else {
                while offset < coded.count {
                    bits |= UInt64(coded[offset]) << UInt64(56 - available)
                    offset += 1
                    available += 8
                }
            }
        }

        @inline(__always)
        func next(_ count: Int) -> Int {
            let ones = available < 64 ? UInt64.max >> UInt64(max(available, 0)) : 0
            return Int((bits | ones) >> UInt64(64 - count))
        }

        @inline(__always)
        mutating func skip(_ count: Int) {
            bits <<= UInt64(count)
            available -= count
        }

        /// Nothing was read past the end, and what is left is padding: less than a byte, and ones only.
        var isAtEnd: Bool {
            guard available >= 0, available < 8, offset == coded.count else { return false }
            return bits >> UInt64(56) | 0xFF >> UInt64(available) == 0xFF
        }
    }

    /// The UUID in 8-4-4-4-12 form of either case; `nil` for anything else.
    static func decode(_ coded: UnsafeRawBufferPointer) -> UUID? {
        pairs.withUnsafeBufferPointer { pairs in
            var bits = Bits(coded)
            var halves: (UInt64, UInt64) = (0, 0)
            for index in 0..<16 {
                bits.refill()
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    guard bits.next(Int(hyphen.length)) == Int(hyphen.code) else { return nil }
                    bits.skip(Int(hyphen.length))
                }
                let pair = pairs[bits.next(14)]
                guard pair != 0 else { return nil }
                bits.skip(Int(pair >> 8))
                halves.0 = halves.0 << 8 | halves.1 >> 56
                halves.1 = halves.1 << 8 | UInt64(pair & 0xFF)
            }
            guard bits.isAtEnd else { return nil }
            let bigEndian = (halves.0.bigEndian, halves.1.bigEndian)
            return withUnsafeBytes(of: bigEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
    }
}

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
