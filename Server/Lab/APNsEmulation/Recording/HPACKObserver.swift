import NIOCore
import NIOHPACK

/// Follows the header blocks of one client: which representation each field had, and what that did to the dynamic table.
struct HPACKObserver {
    private enum Representation {
        case indexed, inserted, notIndexed, neverIndexed
    }

    private(set) var statistics = HPACKStatistics()
    private var decoder: HPACKDecoder
    /// The sizes of the entries, newest last.
    private var entries: [Int] = []
    private var tableSize = 0
    private var limit: Int
    private var isLost = false

    init(tableSize: Int) {
        decoder = HPACKDecoder(allocator: ByteBufferAllocator(), maxDynamicTableSize: tableSize, maxHeaderListSize: 1 << 20)
        limit = tableSize
    }

    /// Counts from nothing; the table goes on.
    mutating func clearStatistics() { statistics = HPACKStatistics() }

    /// Takes in one whole header block. After one that cannot be read the observer stays silent.
    mutating func observe(_ block: ByteBuffer) {
        guard !isLost else { return }
        var copy = block
        guard let fields = try? decoder.decodeHeaders(from: &copy) else {
            isLost = true
            return
        }
        statistics.blocks += 1
        statistics.bytes += block.readableBytes
        var rest = block
        var iterator = fields.makeIterator()
        while rest.readableBytes > 0, let representation = next(&rest) {
            guard let field = iterator.next() else { return }
            count(representation, name: field.name, value: field.value)
        }
    }

    private mutating func count(_ representation: Representation, name: String, value: String) {
        switch representation {
        case .indexed: statistics.indexed += 1
        case .notIndexed: statistics.notIndexed += 1
        case .neverIndexed: statistics.neverIndexed += 1
        case .inserted:
            statistics.inserted += 1
            statistics.insertedNames[name, default: 0] += 1
            insert(name.utf8.count + value.utf8.count + 32)
        }
    }

    private mutating func insert(_ size: Int) {
        shrink(to: limit - size)
        guard size <= limit else { return }
        entries.append(size)
        tableSize += size
        statistics.largestTable = max(statistics.largestTable, tableSize)
    }

    private mutating func shrink(to size: Int) {
        while tableSize > max(0, size), !entries.isEmpty {
            tableSize -= entries.removeFirst()
            statistics.evicted += 1
        }
    }

    /// Steps over one field and says how it was written; size updates are taken on the way.
    private mutating func next(_ rest: inout ByteBuffer) -> Representation? {
        while let first = rest.getInteger(at: rest.readerIndex, as: UInt8.self) {
            if first & 0x80 != 0 { return Self.integer(&rest, bits: 7) == nil ? nil : .indexed }
            if first & 0xC0 == 0x40 { return Self.skipLiteral(&rest, bits: 6) ? .inserted : nil }
            if first & 0xE0 != 0x20 {
                return Self.skipLiteral(&rest, bits: 4) ? (first & 0x10 == 0 ? .notIndexed : .neverIndexed) : nil
            }
            guard let size = Self.integer(&rest, bits: 5) else { return nil }
            statistics.sizeUpdates += 1
            limit = size
            shrink(to: size)
        }
        return nil
    }

    private static func skipLiteral(_ rest: inout ByteBuffer, bits: Int) -> Bool {
        guard let name = integer(&rest, bits: bits) else { return false }
        return (name != 0 || skipText(&rest)) && skipText(&rest)
    }

    private static func skipText(_ rest: inout ByteBuffer) -> Bool {
        guard let length = integer(&rest, bits: 7) else { return false }
        return rest.readSlice(length: length) != nil
    }

    /// An integer of RFC 7541 section 5.1.
    private static func integer(_ rest: inout ByteBuffer, bits: Int) -> Int? {
        guard let first = rest.readInteger(as: UInt8.self) else { return nil }
        let mask = (1 << bits) - 1
        var value = Int(first) & mask
        guard value == mask else { return value }
        for shift in stride(from: 0, through: 28, by: 7) {
            guard let byte = rest.readInteger(as: UInt8.self) else { return nil }
            value += Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}

/// What a client does with its header compression (Reference/APNs.md#1-6): its entries in the dynamic table cost the others'.
public struct HPACKStatistics: Sendable, Hashable, Codable {
    /// Header blocks.
    public var blocks = 0
    /// Bytes of all header blocks.
    public var bytes = 0
    /// Fields that cost an index alone.
    public var indexed = 0
    /// Fields that were put into the dynamic table.
    public var inserted = 0
    /// Literals without indexing.
    public var notIndexed = 0
    /// Literals that are never to be indexed.
    public var neverIndexed = 0
    public var sizeUpdates = 0
    /// Entries that had to go for others: the churn.
    public var evicted = 0
    /// The most bytes that the dynamic table held, by the count of RFC 7541.
    public var largestTable = 0
    /// How often a field of this name was put into the dynamic table.
    public var insertedNames: [String: Int] = [:]

    /// Creates statistics of nothing.
    public init() {}

    /// Adds what happened on another connection.
    public mutating func add(_ other: HPACKStatistics) {
        blocks += other.blocks
        bytes += other.bytes
        indexed += other.indexed
        inserted += other.inserted
        notIndexed += other.notIndexed
        neverIndexed += other.neverIndexed
        sizeUpdates += other.sizeUpdates
        evicted += other.evicted
        largestTable = max(largestTable, other.largestTable)
        insertedNames.merge(other.insertedNames, uniquingKeysWith: +)
    }
}
