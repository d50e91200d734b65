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
