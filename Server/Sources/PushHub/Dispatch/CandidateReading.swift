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

    private var bytes: [UInt8] = []
    private var entries: [SlicePage.Candidates.Entry] = []

    /// Makes room for so many rows.
    public init(capacity: Int) {
        bytes.reserveCapacity(capacity * 128)
        entries.reserveCapacity(capacity)
    }

    public var count: Int { entries.count }

    /// Takes a row. `append` puts its texts behind the bytes that it is given (handle, record, environment, topic; nothing for one
    /// that is absent), and returns where each of them ends.
    public mutating func append<Fault: Error>(
        _ numbers: Numbers, _ append: (inout [UInt8]) throws(Fault) -> SIMD4<Int>
    ) throws(Fault) {
        let start = bytes.count
        let extent = AudienceTexts.Extent(start: start, ends: try append(&bytes))
        let entry = AudienceTexts.Entry(
            key: numbers.key, platform: numbers.platform, registeredAt: numbers.registeredAt, version: numbers.version,
            template: numbers.template, extent: extent)
        entries.append(.init(entry, isSkipped: numbers.isSkipped))
    }

    /// Takes a candidate from elsewhere.
    mutating func append(_ candidate: SlicePage.Candidate) {
        let entry = candidate.member.entry(puttingTextsBehind: &bytes)
        entries.append(.init(entry, isSkipped: candidate.isSkipped))
    }

    /// The candidates that were taken.
    public consuming func finished() -> SlicePage.Candidates { SlicePage.Candidates(entries, in: AudienceTexts(bytes)) }
}
