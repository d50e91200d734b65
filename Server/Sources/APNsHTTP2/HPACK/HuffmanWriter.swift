/// Writes Huffman-coded bytes into memory that the caller has measured (RFC 7541, 5.2).
struct HuffmanWriter {
    private var target: UnsafeMutablePointer<UInt8>
    private var bits: UInt64 = 0
    private var count = 0

    /// The memory must have room for `HuffmanCode.encodedLength` of all that is written.
    init(_ target: UnsafeMutablePointer<UInt8>) { self.target = target }

    @inline(__always)
    mutating func write(_ byte: UInt8, table: UnsafeBufferPointer<(code: UInt32, length: UInt8)>) {
        let entry = table[Int(byte)]
        bits = bits << UInt64(entry.length) | UInt64(entry.code)
        count += Int(entry.length)
        // At most 7 bits stay over, and a code has at most 30, so 64 bits never overflow.
        while count >= 8 {
            count -= 8
            target.pointee = UInt8(truncatingIfNeeded: bits >> UInt64(count))
            target += 1
        }
    }

    /// Fills the last byte with the beginning of the end-of-string code: ones.
    mutating func finish() {
        guard count > 0 else { return }
        target.pointee = UInt8(truncatingIfNeeded: bits << UInt64(8 - count)) | (0xFF >> UInt8(count))
        count = 0
    }
}
