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

    /// Where the handles are.
    enum Handles: Sendable {
        case listed([DeviceHandle])
        /// In a page, at these places.
        case read(SlicePage.Candidates, [Int])

        var count: Int {
            switch self {
            case .listed(let handles): handles.count
            case .read(_, let places): places.count
            }
        }
    }

    /// One after the other, without a gap: all targets together.
    public let runs: [Run]
    private let handles: Handles
    private let pushIDs: [PushID]

    /// Places in a page whose handles, ids and runs did not belong together would send to the wrong devices.
    init(_ handles: Handles, runs: [Run], pushIDs: [PushID]) {
        var end = 0
        for run in runs {
            precondition(run.positions.lowerBound == end && !run.positions.isEmpty)
            end = run.positions.upperBound
        }
        precondition(handles.count == end && pushIDs.count == end)
        self.handles = handles
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
        self.init(.listed(targets.map(\.handle)), runs: runs, pushIDs: targets.map(\.pushID))
    }

    /// What the push service calls the target.
    public func handle(at position: Int) -> DeviceHandle {
        switch handles {
        case .listed(let handles): handles[position]
        case .read(let candidates, let places): candidates.handle(places[position])
        }
    }

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
