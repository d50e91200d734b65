import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// A Live Activity that the backend keeps in step on all devices of its audience.
///
/// The row is the wish: what every device should show. Pushes follow from it, so that a crash between the two only delays them.
public struct LiveActivity: Hashable, Sendable {
    /// Whether it goes on; the raw value is stored.
    public enum Phase: String, Sendable { case active, ended }

    public var id: Int64
    public var draft: ActivityDraft
    public var phase: Phase
    /// Counts the changes, from 1.
    public var revision: Int64
    /// The latest revision that the hub has taken; 0 before the first.
    public var published: Int64
    /// Apple's `timestamp` of the latest push, in seconds; it never runs back (Reference/LiveActivities.md#2-3).
    public var stamp: Int64
    /// The send that starts it, and the one with its latest update or its end.
    public var startSend: NotificationID?
    public var updateSend: NotificationID?
    public var fault: String?
    /// What is left of the pushes that may be urgent.
    public var budget: UrgentBudget
    public var createdAt: Timestamp
    public var endedAt: Timestamp?

    /// How long the system lets an activity live (Reference/LiveActivities.md#1-2).
    public static let lifetime: Duration = .seconds(8 * 3600)
    /// For so long after its end an activity may stay on the lock screen, so a device that comes late gets the end.
    public static let afterlife: Duration = .seconds(4 * 3600)
    /// For so long after its end a push is trusted to bring the end to a device.
    public static let endDelivery: Duration = .seconds(60)
    /// So many of one app a device shows in practice (Reference/LiveActivities.md#1-2).
    public static let shownAtOnce = 5
    /// The most that are active for one owner.
    public static let limit = 1_000

    /// Takes an activity from storage.
    public init(
        id: Int64, draft: ActivityDraft, phase: Phase = .active, revision: Int64 = 1, published: Int64 = 0, stamp: Int64 = 0,
        startSend: NotificationID? = nil, updateSend: NotificationID? = nil, fault: String? = nil,
        budget: UrgentBudget = UrgentBudget(), createdAt: Timestamp, endedAt: Timestamp? = nil
    ) {
        self.id = id
        self.draft = draft
        self.phase = phase
        self.revision = revision
        self.published = published
        self.stamp = stamp
        self.startSend = startSend
        self.updateSend = updateSend
        self.fault = fault
        self.budget = budget
        self.createdAt = createdAt
        self.endedAt = endedAt
    }

    /// When the system ends it in any case.
    public var endsAt: Timestamp { createdAt + Self.lifetime }

    /// Whether a device that still shows it is to remove it: no push ends it there, or none has.
    public func isOver(at now: Timestamp, hasToken: Bool) -> Bool {
        guard phase == .ended else { return false }
        let isReachable = hasToken || draft.channel != nil
        return !isReachable || now >= (endedAt ?? createdAt) + Self.endDelivery
    }
}

/// How many updates of an activity leave with priority 10. Beyond that iOS is likely to hold them back, without a word to the server.
///
/// Apple publishes no number (Reference/LiveActivities.md#2-3), so this is Clarion's own choice.
public struct UrgentBudget: Hashable, Sendable {
    /// How many may leave one right after the other.
    public static let burst = 10
    /// After which another one may.
    public static let interval: Duration = .seconds(120)

    /// When all of the budget is there again.
    public private(set) var fullAt: Timestamp
    /// How many updates left with priority 5 instead.
    public private(set) var demoted: Int

    /// Takes a budget from storage; by default all of it is there.
    public init(fullAt: Timestamp = Timestamp(milliseconds: 0), demoted: Int = 0) {
        (self.fullAt, self.demoted) = (fullAt, demoted)
    }

    /// Takes one from it; whether one was left. Else it counts the update.
    mutating func spend(at now: Timestamp) -> Bool {
        let next = max(fullAt, now) + Self.interval
        guard next - now <= Self.interval * Self.burst else {
            demoted += 1
            return false
        }
        fullAt = next
        return true
    }
}

/// What is stored of an activity that was checked: everything but its number.
public struct ActivityDraft: Hashable, Sendable {
    public var owner: UserID
    public var ownerName: UserName
    public var attributesType: String
    public var attributes: JSONValue
    /// Whether a push starts it; else the app does.
    public var startsByPush: Bool
    public var audience: TagExpression
    /// The channel that its pushes go over; absent where they go to the token of each device.
    public var channel: Int64?
    public var content: ActivityContent

    /// Creates a draft.
    public init(
        owner: UserID, ownerName: UserName, attributesType: String, attributes: JSONValue, startsByPush: Bool,
        audience: TagExpression, channel: Int64? = nil, content: ActivityContent
    ) {
        self.owner = owner
        self.ownerName = ownerName
        self.attributesType = attributesType
        self.attributes = attributes
        self.startsByPush = startsByPush
        self.audience = audience
        self.channel = channel
        self.content = content
    }
}

/// What a revision of an activity says.
public struct ActivityContent: Hashable, Sendable, StoredAsText {
    public var state: JSONValue
    /// Shown once, by the push of this revision or of a later one that took its place.
    public var alert: ActivityAlert?
    public var staleAt: Timestamp?
    public var relevance: Double?
    public var priority: Int
    public var dismissAt: Timestamp?
    /// Those of the last changes, the newest last.
    public var changeKeys: [IdempotencyKey]?

    /// Creates a content.
    public init(
        state: JSONValue, alert: ActivityAlert? = nil, staleAt: Timestamp? = nil, relevance: Double? = nil, priority: Int = 5,
        dismissAt: Timestamp? = nil
    ) {
        self.state = state
        self.alert = alert
        self.staleAt = staleAt
        self.relevance = relevance
        self.priority = priority
        self.dismissAt = dismissAt
    }

    /// The keys of so many changes are kept. A caller repeats a change within seconds, when its answer was lost.
    private static let keyLimit = 8

    /// Whether a change with the key was made. Throws `idempotency-mismatch` where it was another one.
    func isRepeated(_ key: IdempotencyKey) throws(ServiceError) -> Bool {
        guard let known = changeKeys?.first(where: { $0.key == key.key }) else { return false }
        guard known.digest == key.digest else {
            throw ServiceError(.idempotencyMismatch, "this Idempotency-Key was used for another request")
        }
        return true
    }

    /// Keeps the key of a change beside those of the changes before.
    mutating func keep(_ key: IdempotencyKey?, beside former: [IdempotencyKey]?) {
        changeKeys = key.map { (former ?? []).suffix(Self.keyLimit - 1) + [$0] } ?? former
    }
}

/// How an activity stands on one device; the raw value is stored.
public enum ActivityTokenState: String, Sendable {
    /// It is shown, and has no update token yet.
    case starting
    case active
    case stale
}

/// What the user of a device allows an app's Live Activities; the raw value is stored.
public enum ActivityPermission: String, Sendable {
    case off
    case rareUpdates = "rare-updates"
    case frequentUpdates = "frequent-updates"
}

/// How a device stands to an activity, as far as it has reported.
public struct DeviceActivityFacts: Hashable, Sendable {
    /// Absent when the device does not show the activity.
    public var state: ActivityTokenState?
    /// Which revision the device shows, if it said so.
    public var revision: Int64?
    public var permission: ActivityPermission?
    /// When its token that starts activities of the type was reported first, and under which version of the system.
    public var startTokenAt: Timestamp?
    public var startTokenSystem: String?
    /// Whether the device reported anything of Live Activities.
    public var hasReported: Bool
    /// How many other activities the device shows.
    public var others = 0

    /// Creates facts.
    public init(
        state: ActivityTokenState? = nil, revision: Int64? = nil, permission: ActivityPermission? = nil,
        startTokenAt: Timestamp? = nil, startTokenSystem: String? = nil, hasReported: Bool = false
    ) {
        self.state = state
        self.revision = revision
        self.permission = permission
        self.startTokenAt = startTokenAt
        self.startTokenSystem = startTokenSystem
        self.hasReported = hasReported
    }
}

/// What an installation reported of its tokens and activities, checked.
public struct DeviceActivities: Hashable, Sendable {
    /// One activity on the device.
    public struct Entry: Hashable, Sendable {
        public var id: Int64
        /// Absent when the activity is over on the device.
        public var state: ActivityTokenState?
        /// Absent while the system has given none; what was reported before stays.
        public var handle: DeviceToken?
        public var revision: Int64?

        /// Creates an entry.
        public init(id: Int64, state: ActivityTokenState?, handle: DeviceToken?, revision: Int64?) {
            self.id = id
            self.state = state
            self.handle = handle
            self.revision = revision
        }
    }

    /// Start tokens, and those of widgets and controls.
    public var tokens: [InstallationToken]
    /// Whether controls that are not among the tokens were removed.
    public var replacesControls: Bool
    /// What the user allows; absent where the device does not say.
    public var permission: ActivityPermission?
    /// All activities on the device.
    public var activities: [Entry]
    /// Which report of the device it is, a number by chance.
    public var mark: Int64
    /// The version of its operating system, if it said so.
    public var systemVersion: String?

    /// Creates a report.
    public init(
        tokens: [InstallationToken], replacesControls: Bool, permission: ActivityPermission? = nil, activities: [Entry],
        mark: Int64, systemVersion: String? = nil
    ) {
        self.tokens = tokens
        self.replacesControls = replacesControls
        self.permission = permission
        self.activities = activities
        self.mark = mark
        self.systemVersion = systemVersion
    }
}

/// A device whose token for an activity became known after a push had left, or that shows an earlier revision.
public struct ActivityCatchUp: Hashable, Sendable {
    public var activity: Int64
    public var record: RecordID
    /// Which of several of the device it is: a later report makes another.
    public var mark: Int64

    /// Creates a value.
    public init(activity: Int64, record: RecordID, mark: Int64) {
        self.activity = activity
        self.record = record
        self.mark = mark
    }
}

/// What a claim of an activity found, for the node that publishes it. No other node does before the claim ends.
public struct ActivityClaim: Hashable, Sendable {
    /// With the stamp of this push.
    public var activity: LiveActivity
    public var until: Timestamp

    /// Creates a claim.
    public init(_ activity: LiveActivity, until: Timestamp) {
        self.activity = activity
        self.until = until
    }
}

/// Keeps Live Activities and the tokens of installations. Errors are `ServiceError`.
public protocol ActivityStore: Sendable {
    /// Stores an activity, which is due at once. With an idempotency key that was used before for the same request it returns the earlier
    /// one. Throws `quota-exceeded` when the owner has `LiveActivity.limit` active ones, `conflict` when its channel carries another or is
    /// about to be removed, and `idempotency-mismatch`.
    func addActivity(
        _ draft: ActivityDraft, key: IdempotencyKey?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> LiveActivity

    /// Makes the next revision of an active one, which is due at `due` or earlier. `nil` when it has another revision, is over or unknown.
    func changeActivity(
        _ id: Int64, revision: Int64, to content: ActivityContent, phase: LiveActivity.Phase, due: Timestamp, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> LiveActivity?

    /// The activity, whatever its phase.
    func activity(_ id: Int64) async throws -> LiveActivity?

    /// The activity that this user's idempotency key stands for. Throws `idempotency-mismatch`.
    func activity(repeating key: IdempotencyKey, of user: UserID) async throws -> LiveActivity?

    /// At most `limit` activities below a number, newest first, of one owner or of all.
    func activities(of owner: UserID?, below: Int64?, limit: Int) async throws -> [LiveActivity]

    /// How many devices report each of these, by `ActivityTokenState`. Reads an entry of an index for each device.
    func followers(of activities: [Int64]) async throws -> [Int64: [String: Int]]

    /// Activities that are due, at most `limit`, with a channel or without one; each is claimed, and its stamp goes up to `now` at least.
    func claimActivities(onChannels: Bool, at now: Timestamp, until: Timestamp, limit: Int) async throws -> [ActivityClaim]

    /// Ends a claim: the hub has taken the revision. The alert was shown with it, and its budget is stored. What was changed meanwhile is due
    /// a second later.
    func publish(_ claim: ActivityClaim, startSend: NotificationID?, updateSend: NotificationID?, at now: Timestamp) async throws

    /// Ends a claim without success. It is due again at a moment, or with the next change. What was changed meanwhile stays due.
    func postponeActivity(_ claim: ActivityClaim, until moment: Timestamp?, fault: String?) async throws

    /// Stores what an installation reported, if it is bound to the user. Activities that the device may not follow are left out. Notes a
    /// catch-up of each activity that has a new token, or whose newest revision the device may not have. Returns the numbers of the
    /// activities that are over for the device, or `nil` if it is not bound to the user.
    func store(
        _ report: DeviceActivities, of record: RecordID, user: UserID, at now: Timestamp
    ) async throws -> [Int64]?

    /// How a device of the user stands to an activity of a type.
    func facts(
        ofActivity id: Int64, type: String, on record: RecordID, user: UserID
    ) async throws -> DeviceActivityFacts

    /// The tokens of a record that its user reported.
    func tokens(of record: RecordID, user: UserID) async throws -> [InstallationToken]

    /// Forgets what was reported by a record.
    func forgetTokens(of record: RecordID) async throws

    /// Devices that have to catch up, at most `limit`. Each is due again at `until`. Left out are devices whose change the hub may not
    /// have yet, and those that have reported the newest revision.
    func claimCatchUps(at now: Timestamp, until: Timestamp, limit: Int) async throws -> [ActivityCatchUp]

    /// Ends catch-ups, but for devices that reported again meanwhile.
    func endCatchUps(_ catchUps: [ActivityCatchUp]) async throws

    /// Ends activities that were created before `moment`, at most `limit`; returns how many. The end is due at once, for devices that
    /// began it later.
    func endActivities(createdBefore moment: Timestamp, at now: Timestamp, limit: Int) async throws -> Int

    /// Deletes activities that ended before `moment` with what devices reported of them, at most `limit`; returns how many.
    func removeActivities(endedBefore moment: Timestamp, limit: Int) async throws -> Int
}
