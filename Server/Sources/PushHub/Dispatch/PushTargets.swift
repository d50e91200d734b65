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
    public func handle(at position: Int) -> DeviceHandle { page.handle(places[position]) }

    /// The memory in which the device tokens of all targets lie.
    public var bytes: [UInt8] { page.bytes }

    /// Where the device token of the target lies in `bytes`.
    public func token(at position: Int) -> Range<Int> { page.token(places[position]) }

    /// The `apns-id` of the push to the target: the same for every repeat.
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
