import RichPushModel

/// The portions of a paced slice that have left and are not stored yet, in the order in which they left. A value without I/O.
///
/// They are stored in that order, so that the cursor of the slice never passes a target of which nothing is known.
struct PortionFlight {
    struct Portion {
        fileprivate let number: Int
        let page: SlicePage
        let plan: PagePlan
        /// Absent until the push service has answered.
        fileprivate(set) var outcomes: [PushOutcome]?
        /// Whether another was under way at the same time: then its page does not say any more what there is to do.
        fileprivate(set) var isOverlapped: Bool

        fileprivate var isWalk: Bool { plan.through != nil }
        fileprivate var reading: PageReading { PageReading(plan, outcomes: outcomes ?? []) }
    }

    private var portions: [Portion] = []
    private var count = 0
    /// Where the walk goes on.
    private var cursor: SliceKey?
    /// Whether no other portion may leave before all of these are stored.
    private(set) var isClosed = false
    /// Until when the push service wants to be left alone.
    private(set) var pausedUntil: Timestamp?

    var isEmpty: Bool { portions.isEmpty }
    /// Whether the push service has answered all of them.
    var isAnswered: Bool { portions.allSatisfy { $0.outcomes != nil } }
    /// How many targets are past the stored cursor, or in a retry.
    var targets: Int { portions.reduce(0) { $0 + $1.plan.targets.count } }
    private var hasRetries: Bool { portions.contains { !$0.isWalk } }

    mutating func close() { isClosed = true }

    mutating func pause(until moment: Timestamp) {
        pausedUntil = max(pausedUntil ?? moment, moment)
        isClosed = true
    }

    /// A portion is about to leave; its number.
    mutating func add(_ page: SlicePage, _ plan: PagePlan) -> Int {
        for index in portions.indices { portions[index].isOverlapped = true }
        portions.append(Portion(number: count, page: page, plan: plan, isOverlapped: !portions.isEmpty))
        if let through = plan.through { cursor = through }
        count += 1
        return count - 1
    }

    mutating func answer(_ number: Int, _ outcomes: [PushOutcome]) {
        for index in portions.indices where portions[index].number == number { portions[index].outcomes = outcomes }
    }

    /// The portion that is to be stored next, and whether pushes of a later one have left; `nil` while that is not known.
    ///
    /// Targets at the end of a portion that were not sent need no rows, for the cursor stays before them: unless some after them were.
    /// So those after them are waited for, and tried again if they were not sent either.
    mutating func next() -> (Portion, isFollowed: Bool)? {
        guard let first = portions.first, first.outcomes != nil else { return nil }
        var isFollowed = false
        if first.isWalk, first.reading.tail < first.plan.targets.count {
            isClosed = true
            guard isAnswered else { return nil }
            isFollowed = portions.dropFirst().contains { $0.isWalk && $0.reading.answer == .some }
            if !isFollowed { portions.removeAll { $0.isWalk && $0.number != first.number } }
        }
        portions.removeFirst()
        return (first, isFollowed)
    }

    /// Whether that can leave beside the others: retries that are under way would be read as due again.
    func takes(_ work: SlicePage.Work) -> Bool {
        switch work {
        case .walk: true
        case .retries: !hasRetries
        case .wait: false
        }
    }

    /// The question for the page after those that are under way.
    func request(_ hold: SliceWorker.Hold, _ settings: DispatchSettings, _ now: Timestamp) -> PageRequest {
        var lease = hold.lease
        lease.cursor = max(cursor ?? lease.cursor, lease.cursor)
        let portion = lease.pushesPerSecond.map(PushPace.portion) ?? .max
        return PageRequest(
            lease: lease, now: now, limit: min(settings.window - targets, portion), scanLimit: settings.scanLimit,
            pendingLimit: settings.pendingLimit(walked: lease.walked), turn: hasRetries ? .walk : hold.turn)
    }
}
