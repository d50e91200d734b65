import RichPushModel

/// The targets of a page: what sending takes of each record, and no more. One value goes from the rows of storage to a transport.
///
/// The texts of all targets lie in one piece of memory, where a transport reads device tokens, and become strings when they are
/// asked for. A million targets with strings of their own cost more to make, on one thread, and to free, on another, than to send to.
public struct TargetPage: Sendable {
    /// The columns of a row that are numbers.
    public struct Numbers: Sendable {
        public var key: SliceKey
        public var registeredAt: Timestamp
        public var version: Int64
        public var template: TemplateID?
        public var isSkipped: Bool
        /// Its group in a send with groups.
        var group: UInt8 = 0

        /// Creates the numbers of a row.
        public init(
            key: SliceKey, registeredAt: Timestamp, version: Int64, template: TemplateID?, isSkipped: Bool = false
        ) {
            self.key = key
            self.registeredAt = registeredAt
            self.version = version
            self.template = template
            self.isSkipped = isSkipped
        }
    }

    /// Where the texts of a target lie, one behind the other; an absent one is empty, and a present one never is. All are positions in
    /// one page, whose texts are far below four gigabytes.
    private struct Extent {
        let start: UInt32
        let tokenEnd: UInt32
        let recordEnd: UInt32
        let environmentEnd: UInt32
        let topicEnd: UInt32

        init(start: Int, ends: SIMD4<Int>) {
            self.start = UInt32(start)
            tokenEnd = UInt32(ends[0])
            recordEnd = UInt32(ends[1])
            environmentEnd = UInt32(ends[2])
            topicEnd = UInt32(ends[3])
        }

        var token: Range<Int> { Int(start)..<Int(tokenEnd) }
        var record: Range<Int> { Int(tokenEnd)..<Int(recordEnd) }
        var environment: Range<Int> { Int(recordEnd)..<Int(environmentEnd) }
        var topic: Range<Int> { Int(environmentEnd)..<Int(topicEnd) }
        /// Environment and topic.
        var destination: Range<Int> { Int(recordEnd)..<Int(topicEnd) }
    }

    private struct Row {
        var numbers: Numbers
        let extent: Extent
        /// Where its platform stands.
        let platform: UInt16
        /// Whether it stands for a target that has gone.
        let isGone: Bool
    }

    private var rows: [Row] = []
    /// The texts of all targets.
    public private(set) var bytes: [UInt8] = []
    /// Each once. Mostly there is one.
    private var platforms: [Platform] = []

    /// Makes room for so many targets.
    public init(capacity: Int) {
        rows.reserveCapacity(capacity)
        bytes.reserveCapacity(capacity * 128)
    }

    /// Takes a row.
    ///
    /// - Parameter texts: puts device token, record, environment and topic behind the bytes that are there, nothing for one that is
    ///   absent, and returns where each of them ends. If it throws, the row is not taken.
    public mutating func append(
        _ numbers: Numbers, of platform: Platform, texts: (inout [UInt8]) throws -> SIMD4<Int>
    ) rethrows {
        let start = bytes.count
        let extent = Extent(start: start, ends: try texts(&bytes))
        rows.append(Row(numbers: numbers, extent: extent, platform: place(of: platform), isGone: false))
    }

    /// Appends a placeholder for a target that was removed: it has a key and nothing else.
    mutating func appendGone(_ key: SliceKey) {
        let numbers = Numbers(key: key, registeredAt: Timestamp(milliseconds: .min), version: 0, template: nil)
        let extent = Extent(start: bytes.count, ends: SIMD4(repeating: bytes.count))
        rows.append(Row(numbers: numbers, extent: extent, platform: place(of: .apns), isGone: true))
    }

    /// Gives each target the group and the translation that `choice` names for its key.
    mutating func divide(_ choice: (SliceKey) -> (group: Int, translation: TemplateID?)?) {
        for index in rows.indices {
            guard let own = choice(rows[index].numbers.key) else { continue }
            rows[index].numbers.group = UInt8(clamping: own.group)
            rows[index].numbers.template = own.translation
        }
    }

    /// Neighbouring targets mostly have the same platform, so the search begins at the end.
    private mutating func place(of platform: Platform) -> UInt16 {
        if let known = platforms.lastIndex(of: platform) { return UInt16(known) }
        platforms.append(platform)
        return UInt16(platforms.count - 1)
    }
}

/// Columns, by the place of a target.
extension TargetPage {
    func key(_ index: Int) -> SliceKey { rows[index].numbers.key }
    func platform(_ index: Int) -> Platform { platforms[Int(rows[index].platform)] }
    /// When the device token was confirmed. That of a direct send never was.
    func registeredAt(_ index: Int) -> Timestamp { rows[index].numbers.registeredAt }
    func version(_ index: Int) -> Int64 { rows[index].numbers.version }
    /// What is filled in for it, in a template send; in one with translations, the number of its own.
    func template(_ index: Int) -> TemplateID? { rows[index].numbers.template }
    /// Its group in a send with groups; 0 for none.
    func group(_ index: Int) -> Int { Int(rows[index].numbers.group) }
    func isGone(_ index: Int) -> Bool { rows[index].isGone }

    func handle(_ index: Int) -> DeviceToken { DeviceToken(canonical: text(rows[index].extent.token)) }

    /// Absent in a direct send.
    func record(_ index: Int) -> RecordID? {
        isDirect(index) ? nil : RecordID(trusted: text(rows[index].extent.record))
    }

    /// `sandbox` or `production`; absent means the hub's default.
    func environment(_ index: Int) -> String? { presentText(rows[index].extent.environment) }

    /// The APNs topic; absent means the hub's default.
    func topic(_ index: Int) -> String? { presentText(rows[index].extent.topic) }

    /// Where the device token lies in `bytes`.
    func token(_ index: Int) -> Range<Int> { rows[index].extent.token }

    /// Whether the target is of a direct send.
    func isDirect(_ index: Int) -> Bool { rows[index].extent.record.isEmpty }

    /// Whether this is a text of a direct send that is no device token of its platform; records have true ones.
    func isMalformed(_ index: Int) -> Bool {
        isDirect(index) && !isGone(index) && DeviceToken(handle(index).text, platform: platform(index)) == nil
    }

    /// What is counted of a target that nothing is sent to; absent for a target that is tried.
    func outcomeUntried(_ index: Int) -> TargetOutcome? {
        guard platform(index).hasTransport else { return .noTransport }
        return rows[index].numbers.isSkipped ? .skipped : nil
    }

    /// Whether both have the same template, environment and topic.
    func areAlike(_ index: Int, _ other: Int) -> Bool {
        let (left, right) = (rows[index].extent, rows[other].extent)
        guard template(index) == template(other), left.environment.count == right.environment.count else { return false }
        // One behind the other: equal in the first length and in all bytes, they are equal each.
        return bytes.withUnsafeBytes { $0[left.destination].elementsEqual($0[right.destination]) }
    }

    /// The bytes of the record's name where they lie; `nil` in a direct send.
    func withRecordBytes<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard !isDirect(index) else { return nil }
        return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[rows[index].extent.record])) }
    }

    /// How many targets are not skipped.
    public var pushCount: Int { rows.count { !$0.numbers.isSkipped } }

    /// The templates that the targets have.
    var templates: Set<TemplateID> { Set(rows.lazy.compactMap(\.numbers.template)) }

    private func text(_ range: Range<Int>) -> String {
        bytes.withUnsafeBytes { String(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }

    private func presentText(_ range: Range<Int>) -> String? { range.isEmpty ? nil : text(range) }
}

extension TargetPage {
    /// One target by itself.
    public struct Target: Hashable, Sendable {
        /// Where it stands in the walk: the slice key of its record, or the position of a device token in a direct send.
        public var key: SliceKey
        /// Absent in a direct send.
        public var record: RecordID?
        public var platform: Platform
        public var handle: DeviceToken
        /// `sandbox` or `production`; absent means the hub's default.
        public var environment: String?
        /// The APNs topic; absent means the hub's default.
        public var topic: String?
        /// When the device token was confirmed. That of a direct send never was.
        public var registeredAt: Timestamp
        public var version: Int64
        /// What is filled in for it, in a template send; in one with translations, the number of its own.
        public var template: TemplateID?
        /// Whether it is counted, but not sent to, because another record with the same device token gets the push.
        public var isSkipped: Bool

        public init(
            key: SliceKey, record: RecordID?, platform: Platform, handle: DeviceToken, environment: String? = nil,
            topic: String? = nil, registeredAt: Timestamp, version: Int64 = 1, template: TemplateID? = nil,
            isSkipped: Bool = false
        ) {
            self.key = key
            self.record = record
            self.platform = platform
            self.handle = handle
            self.environment = environment
            self.topic = topic
            self.registeredAt = registeredAt
            self.version = version
            self.template = template
            self.isSkipped = isSkipped
        }

        /// A device token of a direct send.
        public init(handle: DeviceToken, platform: Platform, position: Int64) {
            self.init(
                key: SliceKey(position), record: nil, platform: platform, handle: handle,
                registeredAt: Timestamp(milliseconds: .min), version: 0)
        }

        /// A record; `nil` for one without a device token.
        public init?(_ record: DeviceRecord, template: TemplateID? = nil) {
            guard let handle = record.handle else { return nil }
            self.init(
                key: record.sliceKey, record: record.id, platform: record.platform, handle: handle,
                environment: record.environment, topic: record.topic, registeredAt: record.registeredAt,
                version: record.version, template: template)
        }
    }

    /// Gathers targets from elsewhere.
    public init(_ targets: some Collection<Target>) {
        self.init(capacity: targets.count)
        for target in targets { append(target) }
    }

    /// Takes a target from elsewhere.
    public mutating func append(_ target: Target) {
        let numbers = Numbers(
            key: target.key, registeredAt: target.registeredAt, version: target.version, template: target.template,
            isSkipped: target.isSkipped)
        append(numbers, of: target.platform) { bytes in
            var ends = SIMD4<Int>()
            let texts = [target.handle.text, target.record?.text, target.environment, target.topic]
            for (place, text) in texts.enumerated() {
                bytes.append(contentsOf: (text ?? "").utf8)
                ends[place] = bytes.count
            }
            return ends
        }
    }
}

extension TargetPage: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    /// A target with texts of its own. What is done for all targets of a page reads its columns.
    public subscript(index: Int) -> Target {
        Target(
            key: key(index), record: record(index), platform: platform(index), handle: handle(index),
            environment: environment(index), topic: topic(index), registeredAt: registeredAt(index), version: version(index),
            template: template(index), isSkipped: rows[index].numbers.isSkipped)
    }
}

extension TargetPage: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

    public func hash(into hasher: inout Hasher) { for target in self { hasher.combine(target) } }
}

/// The targets of a batch, in their order.
///
/// Those of a page stay where the page was read, and each is put together when it is asked for.
public struct PushTargets: Sendable {
    /// Neighbours that have everything in common but handle and id.
    public struct Run: Hashable, Sendable {
        /// Never empty.
        public var positions: Range<Int>
        /// `sandbox` or `production`; absent means the hub's default.
        public var environment: String?
        /// Index into the bodies of the batch.
        public var body: Int
        /// Index into the header sets of the batch.
        public var headers: Int
    }

    /// One after the other, without a gap: all targets together.
    public let runs: [Run]
    private let page: TargetPage
    /// Where the targets are in the page.
    private let places: [Int]
    private let pushIDs: [PushID]

    /// Places in a page, ids and runs that did not belong together would send to the wrong devices.
    init(_ page: TargetPage, _ places: [Int], runs: [Run], pushIDs: [PushID]) {
        var end = 0
        for run in runs {
            precondition(run.positions.lowerBound == end && !run.positions.isEmpty)
            end = run.positions.upperBound
        }
        precondition(places.count == end && pushIDs.count == end)
        self.page = page
        self.places = places
        self.runs = runs
        self.pushIDs = pushIDs
    }

    /// Gathers targets from elsewhere.
    public init(_ targets: [PushBatch.Target]) {
        var runs: [Run] = []
        for (position, target) in targets.enumerated() {
            if let last = runs.last, last.environment == target.environment, last.body == target.body,
                last.headers == target.headers
            {
                runs[runs.count - 1].positions = last.positions.lowerBound..<position + 1
            } else {
                runs.append(
                    Run(
                        positions: position..<position + 1, environment: target.environment, body: target.body,
                        headers: target.headers))
            }
        }
        let page = TargetPage(
            targets.enumerated().map { .init(handle: $1.handle, platform: .apns, position: Int64($0)) })
        self.init(page, Array(page.indices), runs: runs, pushIDs: targets.map(\.pushID))
    }

    /// What the push service calls the target.
    public func handle(at position: Int) -> DeviceToken { page.handle(places[position]) }

    /// The memory in which the device tokens of all targets lie.
    public var bytes: [UInt8] { page.bytes }

    /// Where the device token of the target lies in `bytes`.
    public func token(at position: Int) -> Range<Int> { page.token(places[position]) }

    /// The `apns-id` of the push to the target: the same for every retry.
    public func pushID(at position: Int) -> PushID { pushIDs[position] }

    /// The run in which a target is.
    public func run(of position: Int) -> Run {
        var (low, high) = (0, runs.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if position < runs[middle].positions.upperBound { high = middle } else { low = middle + 1 }
        }
        return runs[low]
    }
}

extension PushTargets: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { pushIDs.count }

    public subscript(position: Int) -> PushBatch.Target {
        let run = run(of: position)
        return PushBatch.Target(
            handle: handle(at: position), environment: run.environment, body: run.body, headers: run.headers,
            pushID: pushID(at: position))
    }
}
