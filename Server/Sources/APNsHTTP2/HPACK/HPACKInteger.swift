/// Integers with an N-bit prefix (RFC 7541, 5.1).
enum HPACKInteger {
    /// Reads an integer at `offset`, whose first byte carries `prefix` bits of it. Values above 2^28 are refused; nothing
    /// in a header block of bounded size needs them.
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, prefix: Int) throws(HPACKFault) -> Int {
        guard offset < bytes.count else { throw .truncated }
        let mask = 1 << prefix - 1
        var value = Int(bytes[offset]) & mask
        offset += 1
        guard value == mask else { return value }
        var shift = 0
        while true {
            guard offset < bytes.count else { throw .truncated }
            let byte = Int(bytes[offset])
            offset += 1
            guard shift <= 28 else { throw .integerOverflow }
            value += (byte & 0x7F) << shift
            guard value <= 1 << 28 else { throw .integerOverflow }
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }

    /// Appends an integer; `pattern` holds the bits of the first byte above the prefix.
    static func write(_ value: Int, prefix: Int, pattern: UInt8, to bytes: inout [UInt8]) {
        let mask = 1 << prefix - 1
        guard value >= mask else { return bytes.append(pattern | UInt8(value)) }
        bytes.append(pattern | UInt8(mask))
        var rest = value - mask
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
