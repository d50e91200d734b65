import RichPushModel

/// Candidates while they are read, row by row: their texts go into one piece of memory.
public struct CandidateReading {
    /// What of a row is a number.
    public struct Numbers: Sendable {
        public var key: SliceKey
        public var platform: Platform
        public var registeredAt: Timestamp
        public var version: Int64
        public var template: TemplateID?
        public var isSkipped: Bool

        /// Creates the numbers of a row.
        public init(
            key: SliceKey, platform: Platform, registeredAt: Timestamp, version: Int64, template: TemplateID?, isSkipped: Bool
        ) {
            self.key = key
            self.platform = platform
            self.registeredAt = registeredAt
            self.version = version
            self.template = template
            self.isSkipped = isSkipped
        }
    }

    /// The texts of a row in the order in which they are kept.
    public enum Text: Sendable { case handle, record, environment, topic }

    private var bytes: [UInt8] = []
    private var entries: [(entry: AudienceTexts.Entry, isSkipped: Bool)] = []

    /// Makes room for so many rows.
    public init(capacity: Int) {
        bytes.reserveCapacity(capacity * 128)
        entries.reserveCapacity(capacity)
    }

    public var count: Int { entries.count }

    /// Takes a row. `append` puts one text of it behind the bytes that it is given, and nothing where there is none.
    public mutating func append<Fault: Error>(
        _ numbers: Numbers, _ append: (Text, inout [UInt8]) throws(Fault) -> Void
    ) throws(Fault) {
        let start = bytes.count
        let handle = try end(of: .handle, append)
        let record = try end(of: .record, append)
        let environment = try end(of: .environment, append)
        let extent = AudienceTexts.Extent(
            start: start, handleEnd: handle, recordEnd: record, environmentEnd: environment,
            topicEnd: try end(of: .topic, append))
        let entry = AudienceTexts.Entry(
            key: numbers.key, platform: numbers.platform, registeredAt: numbers.registeredAt, version: numbers.version,
            template: numbers.template, extent: extent)
        entries.append((entry, numbers.isSkipped))
    }

    @inline(__always)
    private mutating func end<Fault: Error>(
        of text: Text, _ append: (Text, inout [UInt8]) throws(Fault) -> Void
    ) throws(Fault) -> Int {
        try append(text, &bytes)
        return bytes.count
    }

    /// The candidates that were taken.
    public consuming func finished() -> [SlicePage.Candidate] {
        let texts = AudienceTexts(bytes)
        return entries.map { .init(member: AudienceMember($0.entry, in: texts), isSkipped: $0.isSkipped) }
    }
}
