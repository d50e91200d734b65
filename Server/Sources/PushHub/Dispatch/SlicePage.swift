import RichPushModel
import TagExpressions

/// A question for the next piece of work in a slice.
public struct PageRequest: Hashable, Sendable {
    public var lease: SliceLease
    public var now: Timestamp
    /// At most so many targets.
    public var limit: Int
    /// The most records to read for them.
    public var scanLimit: Int
    /// With so many pending rows the walk waits.
    public var pendingLimit: Int
    /// What comes first when retries are due and the walk can go on as well.
    public var turn: Turn

    /// Retries and walk take turns, so that neither holds up the other.
    public enum Turn: Hashable, Sendable {
        case retries
        case walk
    }

    public init(
        lease: SliceLease, now: Timestamp, limit: Int, scanLimit: Int, pendingLimit: Int, turn: Turn = .retries
    ) {
        self.lease = lease
        self.now = now
        self.limit = limit
        self.scanLimit = scanLimit
        self.pendingLimit = pendingLimit
        self.turn = turn
    }
}

/// The next piece of work in a slice, and the state of its send at that moment.
public struct SlicePage: Hashable, Sendable {
    /// What there is to do.
    public enum Work: Hashable, Sendable {
        /// Targets whose next try is due.
        case retries(DueTargets)
        /// The next targets of the walk.
        case walk(Walk)
        /// Nothing before the next pending row is due.
        case wait
    }

    /// A pending row that is due.
    public struct DueTarget: Hashable, Sendable {
        public var target: PendingTarget
        /// The target as it is now; absent when it is gone or is not meant any more.
        public var member: TargetPage.Target?

        public init(target: PendingTarget, member: TargetPage.Target?) {
            self.target = target
            self.member = member
        }
    }

    /// Pending rows that are due, with their targets as they are now.
    public struct DueTargets: Hashable, Sendable {
        /// One for each target.
        private(set) var pending: [PendingTarget]
        fileprivate(set) var targets: TargetPage
    }

    /// A piece of the walk: the matching records after the cursor in order of key, and how far that is.
    public struct Walk: Hashable, Sendable {
        public var targets: TargetPage
        /// Every match up to this key is among the targets.
        public var through: SliceKey

        public init(targets: TargetPage, through: SliceKey) {
            self.targets = targets
            self.through = through
        }

        /// Creates a piece of targets from elsewhere.
        public init(targets: [TargetPage.Target], through: SliceKey) {
            self.init(targets: TargetPage(targets), through: through)
        }
    }

    public var state: NotificationState
    public var message: AcceptedMessage
    /// The pace of the send, if it has one.
    public var pushesPerSecond: Int?
    /// Whether the send has groups, which are counted apart.
    public var isSplit = false
    /// Whether each device is named in a report.
    public var reportsOutcomes = false
    /// What holds the send back for some users.
    public var cap: FrequencyCap?
    /// When the send was due; absent where a store does not know it.
    public var dueAt: Timestamp?
    public var work: Work
    /// The templates that targets in `work` have. One that is missing has gone since.
    public var templates: [TemplateID: DeviceTemplate] = [:]
    /// What targets in `work` get in place of the body, by the numbers that stand where a template send has templates.
    public var translations: [TemplateID: [UInt8]] = [:]
    /// All pending rows of the slice, those in `work` included.
    public var pendingCount: Int
    /// When the earliest pending row is due, those in `work` left out.
    public var nextPendingAt: Timestamp?

    public init(
        state: NotificationState, message: AcceptedMessage, pushesPerSecond: Int? = nil, work: Work, pendingCount: Int,
        nextPendingAt: Timestamp?
    ) {
        self.state = state
        self.message = message
        self.pushesPerSecond = pushesPerSecond
        self.work = work
        self.pendingCount = pendingCount
        self.nextPendingAt = nextPendingAt
    }
}

extension SlicePage.Work {
    /// The targets in their order.
    public var keys: [SliceKey] {
        switch self {
        case .retries(let due): due.targets.indices.map(due.targets.key)
        case .walk(let walk): walk.targets.indices.map(walk.targets.key)
        case .wait: []
        }
    }

    /// Puts each target that has a choice into its group, with its translation.
    public mutating func divide(_ choice: (SliceKey) -> (group: Int, translation: TemplateID?)?) {
        switch self {
        case .retries(var due):
            self = .wait
            due.targets.divide(choice)
            self = .retries(due)
        case .walk(var walk):
            self = .wait
            walk.targets.divide(choice)
            self = .walk(walk)
        case .wait: break
        }
    }

    /// The templates that the targets have.
    public var templates: Set<TemplateID> {
        switch self {
        case .retries(let due): due.targets.templates
        case .walk(let walk): walk.targets.templates
        case .wait: []
        }
    }
}

extension SlicePage.DueTargets {
    /// Makes room for so many.
    public init(capacity: Int) {
        pending = []
        targets = TargetPage(capacity: capacity)
    }

    /// Takes a pending row whose target has gone.
    public mutating func appendGone(_ target: PendingTarget) {
        pending.append(target)
        targets.appendGone(target.key)
    }

    /// Takes a pending row with its target. `texts` is that of `TargetPage.append`.
    public mutating func append(
        _ target: PendingTarget, _ numbers: TargetPage.Numbers, of platform: Platform,
        texts: (inout [UInt8]) throws -> SIMD4<Int>
    ) rethrows {
        try targets.append(numbers, of: platform, texts: texts)
        pending.append(target)
    }

    /// Gathers due targets from elsewhere.
    public init(_ due: some Collection<SlicePage.DueTarget>) {
        self.init(capacity: due.count)
        for due in due { append(due.target, due.member) }
    }

    /// Takes a pending row with a target from elsewhere; `nil` is one that has gone.
    public mutating func append(_ target: PendingTarget, _ member: TargetPage.Target?) {
        guard let member else { return appendGone(target) }
        pending.append(target)
        targets.append(member)
    }
}

extension SlicePage.DueTargets: RandomAccessCollection, ExpressibleByArrayLiteral {
    public init(arrayLiteral due: SlicePage.DueTarget...) { self.init(due) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { pending.count }

    public subscript(index: Int) -> SlicePage.DueTarget {
        SlicePage.DueTarget(target: pending[index], member: targets.isGone(index) ? nil : targets[index])
    }
}
