import RichPushModel

extension SlicePage {
    /// A target that the send means.
    public struct Candidate: Hashable, Sendable {
        public var member: AudienceMember
        /// Whether it is counted, but not sent to, because another record with the same handle gets the push.
        public var isSkipped: Bool

        /// Creates a candidate.
        public init(member: AudienceMember, isSkipped: Bool) {
            self.member = member
            self.isSkipped = isSkipped
        }
    }

    /// The candidates of a piece of the walk where they were read. Each is put together when it is asked for, so that a page of a
    /// thousand is made and freed without a reference counted for each.
    public struct Candidates: Sendable {
        /// A candidate without its texts.
        struct Entry {
            let entry: AudienceTexts.Entry
            let isSkipped: Bool

            init(_ entry: AudienceTexts.Entry, isSkipped: Bool) {
                self.entry = entry
                self.isSkipped = isSkipped
            }
        }

        private let entries: [Entry]
        private let texts: AudienceTexts

        init(_ entries: [Entry], in texts: AudienceTexts) {
            self.entries = entries
            self.texts = texts
        }

        /// Gathers candidates from elsewhere.
        public init(_ candidates: some Collection<Candidate>) {
            var reading = CandidateReading(capacity: candidates.count)
            for candidate in candidates { reading.append(candidate) }
            self = reading.finished()
        }

        func member(_ index: Int) -> AudienceMember { AudienceMember(entries[index].entry, in: texts) }

        func handle(_ index: Int) -> DeviceHandle { DeviceHandle(canonical: texts.text(entries[index].entry.extent.handle)) }

        /// Visits the members at these places, in that order.
        func forEachMember(_ indices: [Int], _ body: (AudienceMember) -> Void) {
            guard let first = indices.first else { return }
            var member = member(first)
            for index in indices {
                member.become(entries[index].entry)
                body(member)
            }
        }

        /// What is counted of a target that nothing is sent to; absent for a target that is tried.
        func outcomeUntried(_ index: Int) -> TargetOutcome? {
            guard texts.platforms[entries[index].entry.platform].hasTransport else { return .noTransport }
            return entries[index].isSkipped ? .skipped : nil
        }

        /// Whether the target is of a direct send.
        func isDirect(_ index: Int) -> Bool { entries[index].entry.extent.record.isEmpty }

        /// The templates that the targets have.
        var templates: Set<TemplateID> { Set(entries.lazy.compactMap { $0.entry.template }) }
    }
}

extension SlicePage.Candidates: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { entries.count }

    public subscript(index: Int) -> SlicePage.Candidate {
        SlicePage.Candidate(member: member(index), isSkipped: entries[index].isSkipped)
    }
}

extension SlicePage.Candidates: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

    public func hash(into hasher: inout Hasher) { for candidate in self { hasher.combine(candidate) } }
}
