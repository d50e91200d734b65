/// Encodes header fields for one connection and keeps the peer's dynamic table in mind (RFC 7541).
///
/// Only the few fields that are the same for many requests come through here; what differs for each request is written by
/// `APNsHeaderBlocks` without touching the table.
struct HPACKEncoder {
    /// How a field is to be represented (RFC 7541, 6).
    enum Indexing {
        /// In the table: one byte from the second time on.
        case indexed
        /// The name in the table, the value written out each time.
        case nameOnly
        /// Both written out, and never to be put into a table by any machine on the way: for a secret (RFC 7541, 7.1.3).
        case never
    }

    private struct Entry {
        var name: String
        var value: String
        var size: Int { name.utf8.count + value.utf8.count + 32 }
    }

    /// The newest first.
    private var entries: [Entry] = []
    private var size = 0
    private var limit: Int
    /// The smallest limit since the last block, if it must be announced to the peer (RFC 7541, 4.2).
    private var smallestUnannounced: Int?
    private let ceiling: Int

    /// Changes with every insertion and eviction: bytes that were encoded before then mean something else.
    private(set) var generation: UInt64 = 0

    /// Creates an encoder that never uses more of the peer's table than `ceiling` bytes.
    init(ceiling: Int = 4096) {
        self.ceiling = ceiling
        limit = ceiling
    }

    /// Takes over the peer's HEADER_TABLE_SIZE.
    mutating func peerAllows(_ tableSize: Int) {
        let allowed = min(tableSize, ceiling)
        guard allowed != limit else { return }
        limit = allowed
        smallestUnannounced = min(smallestUnannounced ?? allowed, allowed)
        evict(toFit: 0)
        generation += 1
    }

    /// Appends the size updates that the peer is owed. Call at the beginning of each block.
    mutating func beginBlock(_ bytes: inout [UInt8]) {
        guard let smallest = smallestUnannounced else { return }
        smallestUnannounced = nil
        if smallest < limit { HPACKInteger.write(smallest, prefix: 5, pattern: 0x20, to: &bytes) }
        HPACKInteger.write(limit, prefix: 5, pattern: 0x20, to: &bytes)
        generation += 1
    }

    /// Appends a field.
    mutating func append(_ name: String, _ value: String, _ indexing: Indexing, to bytes: inout [UInt8]) {
        switch indexing {
        case .indexed:
            if let index = index(ofName: name, value: value) {
                HPACKInteger.write(index, prefix: 7, pattern: 0x80, to: &bytes)
            } else {
                appendLiteral(name, value, nameIndex: index(ofName: name), inserting: true, to: &bytes)
            }
        case .nameOnly:
            let nameIndex = index(ofName: name)
            appendLiteral(name, value, nameIndex: nameIndex, inserting: nameIndex == nil, to: &bytes)
        case .never:
            HPACKInteger.write(HPACKStaticTable.index(ofName: name) ?? 0, prefix: 4, pattern: 0x10, to: &bytes)
            if HPACKStaticTable.index(ofName: name) == nil { Self.appendString(name, to: &bytes) }
            Self.appendString(value, to: &bytes)
        }
    }

    /// The first bytes of a literal without indexing whose name is in a table already; `nil` when it is in none.
    func literalPrefix(ofName name: String) -> [UInt8]? {
        guard let index = index(ofName: name) else { return nil }
        var bytes: [UInt8] = []
        HPACKInteger.write(index, prefix: 4, pattern: 0, to: &bytes)
        return bytes
    }

    private mutating func appendLiteral(
        _ name: String, _ value: String, nameIndex: Int?, inserting: Bool, to bytes: inout [UInt8]
    ) {
        let (prefix, pattern): (Int, UInt8) = inserting ? (6, 0x40) : (4, 0)
        HPACKInteger.write(nameIndex ?? 0, prefix: prefix, pattern: pattern, to: &bytes)
        if nameIndex == nil { Self.appendString(name, to: &bytes) }
        Self.appendString(value, to: &bytes)
        if inserting { insert(Entry(name: name, value: value)) }
    }

    private func index(ofName name: String, value: String) -> Int? {
        HPACKStaticTable.index(ofName: name, value: value)
            ?? entries.firstIndex { $0.name == name && $0.value == value }.map { $0 + HPACKStaticTable.count + 1 }
    }

    private func index(ofName name: String) -> Int? {
        HPACKStaticTable.index(ofName: name)
            ?? entries.firstIndex { $0.name == name }.map { $0 + HPACKStaticTable.count + 1 }
    }

    private mutating func insert(_ entry: Entry) {
        generation += 1
        evict(toFit: entry.size)
        guard entry.size <= limit else { return }
        entries.insert(entry, at: 0)
        size += entry.size
    }

    private mutating func evict(toFit room: Int) {
        while size + room > limit, let oldest = entries.popLast() { size -= oldest.size }
    }

    /// A string, Huffman-coded when that is shorter (RFC 7541, 5.2).
    static func appendString(_ text: String, to bytes: inout [UInt8]) {
        let plain = Array(text.utf8)
        let length = HuffmanCode.encodedLength(of: plain)
        guard length < plain.count else {
            HPACKInteger.write(plain.count, prefix: 7, pattern: 0, to: &bytes)
            bytes.append(contentsOf: plain)
            return
        }
        HPACKInteger.write(length, prefix: 7, pattern: 0x80, to: &bytes)
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: length))
        bytes.withUnsafeMutableBufferPointer { memory in
            guard let base = memory.baseAddress else { return }
            HuffmanCode.encoding.withUnsafeBufferPointer { table in
                var writer = HuffmanWriter(base + start)
                for byte in plain { writer.write(byte, table: table) }
                writer.finish()
            }
        }
    }
}

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
