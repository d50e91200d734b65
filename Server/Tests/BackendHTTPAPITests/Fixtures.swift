/// Bytes that look like real files to a sniffer.
enum Fixtures {
    /// A picture of one pixel, different for every name, which stands among its pixels.
    static func png(name: String) -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]
        let pixel: [UInt8] = [0x78, 0x9C, 0x63, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01]
        return signature + chunk("IHDR", header) + chunk("IDAT", pixel) + chunk("IDAT", Array(name.utf8))
            + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return bigEndian(UInt32(data.count)) + body + bigEndian(checksum(body))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// CRC-32 as PNG uses it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var remainder: UInt32 = .max
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        return ~remainder
    }
}

extension Fixtures {
    /// A picture that is too large to be kept in memory. Its size is in its pixels: what follows the end of a picture is not stored.
    static func large(name: String) -> [UInt8] { png(name: name + String(repeating: "x", count: 200_000)) }
}
