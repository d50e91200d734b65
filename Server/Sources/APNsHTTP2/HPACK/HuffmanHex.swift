/// Huffman-codes hexadecimal digits two at a time into memory of known size (RFC 7541, 5.2).
struct HuffmanHex {
    /// The code of both digits of a byte, and how many bits it has.
    private static let pairs: [(code: UInt16, length: UInt8)] = {
        let digits = Array("0123456789abcdef".utf8)
        return (0..<256).map { byte in
            let high = HuffmanCode.encoding[Int(digits[byte >> 4])]
            let low = HuffmanCode.encoding[Int(digits[byte & 15])]
            return (UInt16(high.code << UInt32(low.length) | low.code), high.length + low.length)
        }
    }()
    private static let hyphen = HuffmanCode.encoding[Int(UInt8(ascii: "-"))]
    private static let devicePath = Array("/3/device/".utf8).reduce(into: (code: UInt64(0), length: 0)) { word, byte in
        let next = HuffmanCode.encoding[Int(byte)]
        word = (word.code << UInt64(next.length) | UInt64(next.code), word.length + Int(next.length))
    }

    /// The longest token whose path has a length of one byte: 126 bytes in this code, at 6 bits a digit.
    static let longestToken = 150

    private let start: UnsafeMutablePointer<UInt8>
    private var target: UnsafeMutablePointer<UInt8>
    private var bits: UInt64 = 0
    private var count = 0

    private init(_ start: UnsafeMutablePointer<UInt8>) {
        self.start = start
        target = start + 1
    }

    /// Writes length and value of the path of a token, at most `longestToken` hexadecimal digits of either case, an even number.
    /// There must be room for a byte per digit and 16 more. Returns the number of bytes.
    static func writeDevicePath(_ token: UnsafeBufferPointer<UInt8>, to memory: UnsafeMutablePointer<UInt8>) -> Int {
        pairs.withUnsafeBufferPointer { pairs in
            var writer = HuffmanHex(memory)
            writer.put(devicePath.code >> 32, devicePath.length - 32)
            writer.put(devicePath.code & 0xFFFF_FFFF, 32)
            var index = 0
            while index + 1 < token.count {
                let pair = pairs[Int(value(of: token[index]) << 4 | value(of: token[index + 1]))]
                writer.put(UInt64(pair.code), Int(pair.length))
                index += 2
            }
            return writer.finish()
        }
    }

    /// Writes length and value of a UUID in lower case. There must be room for 40 bytes.
    static func writeUUID(_ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutablePointer<UInt8>) -> Int {
        pairs.withUnsafeBufferPointer { pairs in
            var writer = HuffmanHex(memory)
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 { writer.put(UInt64(hyphen.code), Int(hyphen.length)) }
                let pair = pairs[Int(bytes[index])]
                writer.put(UInt64(pair.code), Int(pair.length))
            }
            return writer.finish()
        }
    }

    @inline(__always)
    private static func value(of digit: UInt8) -> UInt8 { (digit & 0x0F) &+ 9 &* (digit >> 6) }

    /// Fewer than 32 bits stay over and at most 32 come, so 64 never overflow.
    @inline(__always)
    private mutating func put(_ code: UInt64, _ length: Int) {
        bits = bits << UInt64(length) | code
        count += length
        guard count >= 32 else { return }
        count -= 32
        let word = UInt32(truncatingIfNeeded: bits >> UInt64(count)).bigEndian
        UnsafeMutableRawPointer(target).storeBytes(of: word, as: UInt32.self)
        target += 4
    }

    /// Fills the last byte with ones and writes the length, which is below 127, before all.
    private mutating func finish() -> Int {
        while count > 0 {
            let byte = count >= 8 ? bits >> UInt64(count - 8) : bits << UInt64(8 - count) | 0xFF >> UInt64(count)
            target.pointee = UInt8(truncatingIfNeeded: byte)
            target += 1
            count -= 8
        }
        start.pointee = 0x80 | UInt8(target - start - 1)
        return target - start
    }
}
