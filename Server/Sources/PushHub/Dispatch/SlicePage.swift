import RichPushModel
import TagExpressions

/// A question for the next piece of work in a slice.
public struct PageRequest: Hashable, Sendable {
    public var lease: SliceLease
    public var now: Timestamp
    /// At most so many targets.
    public var limit: Int
    /// At most so many records are looked at for them.
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

    /// Creates a question.
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
        case retries([DueTarget])
        /// The next targets of the walk.
        case walk(Walk)
        /// Nothing before the next pending row is due.
        case wait
    }

    /// A pending row that is due.
    public struct DueTarget: Hashable, Sendable {
        public var target: PendingTarget
        /// The target as it is now; absent when it is gone or is not meant any more.
        public var member: AudienceMember?

        /// Creates a due target.
        public init(target: PendingTarget, member: AudienceMember?) {
            self.target = target
            self.member = member
        }
    }

    /// A piece of the walk: the matching records after the cursor in order of key, and how far that is.
    public struct Walk: Hashable, Sendable {
        public var candidates: Candidates
        /// Every match up to this key is among the candidates.
        public var through: SliceKey

        /// Creates a piece.
        public init(candidates: Candidates, through: SliceKey) {
            self.candidates = candidates
            self.through = through
        }

        /// Creates a piece of candidates from elsewhere.
        public init(candidates: [Candidate], through: SliceKey) {
            self.init(candidates: Candidates(candidates), through: through)
        }
    }

    public var state: NotificationState
    public var message: AcceptedMessage
    /// The pace of the send, if it has one.
    public var pushesPerSecond: Int?
    /// When the send was due; absent where a store does not know it.
    public var dueAt: Timestamp?
    public var work: Work
    /// The templates that targets in `work` have. One that is missing has gone since.
    public var templates: [TemplateID: DeviceTemplate] = [:]
    /// All pending rows of the slice, those in `work` included.
    public var pendingCount: Int
    /// When the earliest pending row is due, those in `work` left out.
    public var nextPendingAt: Timestamp?

    /// Creates a page.
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
    /// The templates that the targets have.
    public var templates: Set<TemplateID> {
        switch self {
        case .retries(let due): Set(due.compactMap(\.member?.template))
        case .walk(let walk): walk.candidates.templates
        case .wait: []
        }
    }
}
