import RichPushModel

/// Candidates while they are read, row by row: their texts go into one piece of memory.
public struct CandidateReading {
    /// What of a row is a number.
    public struct Numbers: Sendable {
        public var key: SliceKey
        public var registeredAt: Timestamp
        public var version: Int64
        public var template: TemplateID?
        public var isSkipped: Bool

        /// Creates the numbers of a row.
        public init(
            key: SliceKey, registeredAt: Timestamp, version: Int64, template: TemplateID?, isSkipped: Bool
        ) {
            self.key = key
            self.registeredAt = registeredAt
            self.version = version
            self.template = template
            self.isSkipped = isSkipped
        }
    }

    /// The texts of the rows, one behind the other: of each its handle, record, environment and topic, nothing for one that is absent.
    /// Those of a row are put here before the row is taken.
    public var bytes: [UInt8] = []
    private var platforms = PlatformTable()
    /// Of rows that come without one.
    private let platform: PlatformTable.Place
    private var entries: [SlicePage.Candidates.Entry] = []

    /// Makes room for so many rows.
    ///
    /// - Parameter platform: that of rows that come without one.
    public init(capacity: Int, platform: Platform = .apns) {
        self.platform = platforms.place(of: platform)
        bytes.reserveCapacity(capacity * 128)
        entries.reserveCapacity(capacity)
    }

    public var count: Int { entries.count }

    /// Takes a row, whose texts have been put behind the others.
    ///
    /// - Parameters:
    ///   - start: where its texts begin.
    ///   - ends: where each of the four ends.
    public mutating func append(_ numbers: Numbers, of platform: Platform?, textsFrom start: Int, to ends: SIMD4<Int>) {
        let place = platform.map { platforms.place(of: $0) } ?? self.platform
        let entry = AudienceTexts.Entry(
            key: numbers.key, platform: place, registeredAt: numbers.registeredAt, version: numbers.version,
            template: numbers.template, extent: AudienceTexts.Extent(start: start, ends: ends))
        entries.append(.init(entry, isSkipped: numbers.isSkipped))
    }

    /// Takes a candidate from elsewhere.
    mutating func append(_ candidate: SlicePage.Candidate) {
        let entry = candidate.member.entry(puttingTextsBehind: &bytes, &platforms)
        entries.append(.init(entry, isSkipped: candidate.isSkipped))
    }

    /// The candidates that were taken.
    public consuming func finished() -> SlicePage.Candidates {
        SlicePage.Candidates(entries, in: AudienceTexts(bytes, platforms))
    }
}
