import APNsProtocol
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The two fields that differ for each push, Huffman-coded straight into the buffer.
extension ByteBuffer {
    private static let devicePath = Array("/3/device/".utf8)
    private static let devicePathBits = devicePath.reduce(0) { $0 + HuffmanCode.length(of: $1) }
    private static let digits = Array("0123456789abcdef".utf8)
    /// `:path` as a literal without indexing, by its name in the static table (RFC 7541, 6.2.2).
    private static let pathLiteral: UInt8 = 0x04

    /// Appends `:path` with the device token in lower case, which is shorter in this code. The token must be hexadecimal.
    mutating func writeAPNsDevicePath(_ token: APNsDeviceToken) { token.withBytes { writePath($0) } }

    private mutating func writePath(_ token: UnsafeBufferPointer<UInt8>) {
        HuffmanCode.encoding.withUnsafeBufferPointer { table in
            var bits = Self.devicePathBits
            // For hexadecimal digits of either case this bit makes lower case.
            for byte in token { bits += Int(table[Int(byte | 0x20)].length) }
            writeInteger(Self.pathLiteral)
            writeHuffman(length: (bits + 7) / 8) { writer in
                for byte in Self.devicePath { writer.write(byte, table: table) }
                for byte in token { writer.write(byte | 0x20, table: table) }
            }
        }
    }

    /// Appends a UUID as the string of a header value, 8-4-4-4-12 in lower case.
    mutating func writeHuffmanUUID(_ uuid: UUID) {
        withUnsafeBytes(of: uuid.uuid) { bytes in
            HuffmanCode.encoding.withUnsafeBufferPointer { table in
                Self.digits.withUnsafeBufferPointer { digits in
                    var bits = 4 * Int(table[Int(UInt8(ascii: "-"))].length)
                    for byte in bytes {
                        bits += Int(table[Int(digits[Int(byte >> 4)])].length) + Int(table[Int(digits[Int(byte & 15)])].length)
                    }
                    writeHuffman(length: (bits + 7) / 8) { writer in
                        for index in 0..<16 {
                            if index == 4 || index == 6 || index == 8 || index == 10 {
                                writer.write(UInt8(ascii: "-"), table: table)
                            }
                            writer.write(digits[Int(bytes[index] >> 4)], table: table)
                            writer.write(digits[Int(bytes[index] & 15)], table: table)
                        }
                    }
                }
            }
        }
    }

    private mutating func writeHuffman(length: Int, _ body: (inout HuffmanWriter) -> Void) {
        if length < 0x7F {
            writeInteger(0x80 | UInt8(length))
        } else {
            var prefix: [UInt8] = []
            HPACKInteger.write(length, prefix: 7, pattern: 0x80, to: &prefix)
            writeBytes(prefix)
        }
        writeWithUnsafeMutableBytes(minimumWritableBytes: length) { memory in
            guard let base = memory.baseAddress else { return 0 }
            var writer = HuffmanWriter(base.assumingMemoryBound(to: UInt8.self))
            body(&writer)
            writer.finish()
            return length
        }
    }
}
