import NIOCore

/// The dynamic table of the decoder (RFC 7541, 2.3.2 and 4): all text in one array, so that an insertion is a copy and no allocation.
struct HPACKDynamicTable {
    private struct Entry {
        /// Where the name begins, counted from the first byte ever inserted; the value follows.
        var start: Int
        var nameLength: Int
        var valueLength: Int
        var size: Int { nameLength + valueLength + 32 }
    }

    private var entries: CircularBuffer<Entry> = []
    private var text: [UInt8] = []
    /// How many inserted bytes have left `text`.
    private var dropped = 0
    private(set) var size = 0
    private(set) var maximumSize: Int

    init(maximumSize: Int) { self.maximumSize = maximumSize }

    var count: Int { entries.count }

    /// Changes the limit and evicts what no longer fits.
    mutating func resize(to maximum: Int) {
        maximumSize = maximum
        evict(toFit: 0)
    }

    /// Inserts an entry as number 0. One that is larger than the table empties it (RFC 7541, 4.4). The bytes must not lie in
    /// this table, which may move.
    mutating func insert(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let size = name.count + value.count + 32
        let start = dropped + text.count
        text.append(contentsOf: name)
        text.append(contentsOf: value)
        evict(toFit: size)
        guard size <= maximumSize else { return compact() }
        entries.append(Entry(start: start, nameLength: name.count, valueLength: value.count))
        self.size += size
        if text.count > 2 * maximumSize + 1024 { compact() }
    }

    /// Calls `body` with the entry, 0 being the newest; `nil` when there is none. The bytes are valid only during the call.
    func withEntry<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        guard index >= 0, index < entries.count else { return nil }
        let entry = entries[entries.index(entries.startIndex, offsetBy: entries.count - 1 - index)]
        return text.withUnsafeBytes { bytes in
            let start = entry.start - dropped
            let name = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + entry.nameLength)])
            let valueStart = start + entry.nameLength
            return body(name, UnsafeRawBufferPointer(rebasing: bytes[valueStart..<(valueStart + entry.valueLength)]))
        }
    }

    /// Whether the entry, 0 being the newest, has this name.
    func isName(_ index: Int, _ word: StaticString) -> Bool {
        guard index >= 0, index < entries.count else { return false }
        let entry = entries[entries.index(entries.startIndex, offsetBy: entries.count - 1 - index)]
        guard entry.nameLength == word.utf8CodeUnitCount else { return false }
        let start = entry.start - dropped
        for offset in 0..<entry.nameLength where text[start + offset] != word.utf8Start[offset] { return false }
        return true
    }

    /// Whether the entry, 0 being the newest, is there and stays when another of this size is inserted.
    func keeps(_ index: Int, besides size: Int) -> Bool {
        guard index >= 0, index < entries.count else { return false }
        var sum = size
        for offset in 0...index { sum += entries[entries.index(entries.startIndex, offsetBy: entries.count - 1 - offset)].size }
        return sum <= maximumSize
    }

    private mutating func evict(toFit room: Int) {
        while size + room > maximumSize, let oldest = entries.popFirst() { size -= oldest.size }
    }

    private mutating func compact() {
        let keep = entries.first.map { $0.start - dropped } ?? text.count
        text.removeFirst(keep)
        dropped += keep
    }
}

/// RFC 7541, Appendix A. Indices begin at 1.
enum HPACKStaticTable {
    static let count = 61

    /// The index of the first entry with this name.
    static func index(ofName name: String) -> Int? { places[name] }

    /// The index of the entry with this name and value.
    static func index(ofName name: String, value: String) -> Int? {
        guard var index = places[name] else { return nil }
        // Entries of one name follow each other.
        while index <= count, fields[index - 1].name == name {
            if fields[index - 1].value == value { return index }
            index += 1
        }
        return nil
    }

    private static let places = Dictionary(fields.enumerated().map { ($1.name, $0 + 1) }) { first, _ in first }

    static let fields: [(name: String, value: String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
        ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]

    /// The same as bytes, for the decoder.
    static let bytes: [(name: [UInt8], value: [UInt8])] = fields.map { (Array($0.name.utf8), Array($0.value.utf8)) }
}
