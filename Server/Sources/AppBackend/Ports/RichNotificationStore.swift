import PushHub
import RichPushModel

/// Keeps rich notifications, the index by which inboxes find them, and the work that is left to do for them.
/// Errors are `ServiceError`.
public protocol RichNotificationStore: Sendable {
    /// Stores a draft under the next number, with its audience index, its idempotency key, its claim on contents and the work to hand
    /// it to the hub, in one transaction that is durable on return. Throws `not-found` when a content is not the sender's or
    /// has expired, and `conflict` when the draft asks for a number that is not among the next `NumberAhead.limit`. An idempotency key seen before returns the earlier notification, or `repeatMismatch` for another digest.
    func accept(_ draft: RichNotificationDraft, at now: Timestamp) async throws -> Acceptance

    /// The last number that was given; zero before the first.
    func lastNumber() async throws -> Int32

    /// The notification, whatever its state.
    func notification(_ id: RichID) async throws -> RichNotification?

    /// What decides whether a user may read a notification, of one moment: the notification, and the user's bindings that held
    /// when it began or later (those that hold, if there is no such notification), newest first, at most `limit`.
    func accessFacts(about id: RichID, for user: UserID, limit: Int) async throws -> AccessFacts

    /// The notification that this user's idempotency key stands for, if any.
    func repeated(_ key: IdempotencyKey, of user: UserID) async throws -> Acceptance?

    /// The push of a notification and the key under which the hub takes it once.
    func push(of id: RichID) async throws -> OutgoingPush?

    /// Notifications found under any of the keys and not recalled or refused, newest first; ids below `before` and above `since`.
    func find(_ query: InboxQuery) async throws -> [RichNotification]

    /// Notifications with a number below `before`, whatever their state, newest first, at most `limit`: those of one sender, or all for
    /// `nil`.
    func sends(of sender: UserID?, before: RichID?, limit: Int) async throws -> [RichNotification]

    /// Notes that the hub took it; the completion is asked for from `check` on. `false` when it was recalled meanwhile.
    func markSent(_ id: RichID, trackingID: NotificationID, check: Timestamp) async throws -> Bool

    /// Notes that the hub refused it for good: from then on nobody finds it, and contents that no other notification uses
    /// expire at `now`.
    func markRefused(_ id: RichID, at now: Timestamp) async throws

    /// Notes when the hub was done with it, and where in the order of this database, if it is the hub's too; no work is left.
    func markCompleted(_ id: RichID, at moment: Timestamp, order: OrderNumber?) async throws

    /// Recalls it: from then on nobody finds it, and contents that no other notification uses expire at `contentExpiry`.
    /// `false` when it was recalled before.
    func recall(_ id: RichID, at now: Timestamp, contentExpiry: Timestamp) async throws -> Bool

    /// Notes that a recalled notification is cancelled at the hub.
    func markCancelled(_ id: RichID) async throws

    /// Work that is due: what is to be sent or cancelled, then what is only to be asked for, each by the moment for which it was set.
    /// That of a new notification is set for some seconds later, so that whoever accepted it can do it first.
    func dueWork(at now: Timestamp, limit: Int) async throws -> [OutboxWork]

    /// Puts work off, unless something else is to be done by now: a recall must not wait.
    func postpone(_ work: OutboxWork, until moment: Timestamp) async throws

    /// Deletes at most `limit` idempotency keys made before `moment`; returns how many.
    func removeIdempotencyKeys(before moment: Timestamp, limit: Int) async throws -> Int
}

/// What decides whether a user may read a notification.
public struct AccessFacts: Sendable {
    /// The notification, whatever its state; `nil` when there is none.
    public var notification: RichNotification?
    /// The user's bindings that may have been reached by it, newest first.
    public var bindings: [Binding]

    /// Creates facts.
    public init(notification: RichNotification?, bindings: [Binding]) {
        self.notification = notification
        self.bindings = bindings
    }
}

/// What became of a draft.
public enum Acceptance: Hashable, Sendable {
    case accepted(RichNotification)
    /// The idempotency key was used for the same request.
    case repeated(RichNotification)
    /// The idempotency key was used for another request.
    case repeatMismatch
}

/// A push as the hub gets it.
public struct OutgoingPush: Hashable, Sendable {
    public var message: PushMessage
    public var pushesPerSecond: Int?
    /// The hub's idempotency key: the same however often it is handed over.
    public var hubKey: String

    /// Creates a push.
    public init(message: PushMessage, pushesPerSecond: Int? = nil, hubKey: String) {
        self.message = message
        self.pushesPerSecond = pushesPerSecond
        self.hubKey = hubKey
    }
}

/// A question for an inbox.
public struct InboxQuery: Hashable, Sendable {
    public var keys: [AudienceKey]
    /// The user's tags of all times count as keys too.
    public var user: UserID
    public var before: RichID?
    public var since: RichID?
    /// Whether what the user has read is left out.
    public var unreadOnly: Bool
    public var limit: Int

    /// Creates a question.
    public init(
        keys: [AudienceKey], user: UserID, before: RichID?, since: RichID?, unreadOnly: Bool = false, limit: Int
    ) {
        self.keys = keys
        self.user = user
        self.before = before
        self.since = since
        self.unreadOnly = unreadOnly
        self.limit = limit
    }
}

/// What is left to do for a notification.
public struct OutboxWork: Hashable, Sendable {
    /// The kinds of work; the raw value is stored.
    public enum Task: String, Sendable {
        /// Hand it to the hub.
        case send
        /// Ask the hub whether it completed.
        case track
        /// Cancel it at the hub.
        case cancel
    }

    public var id: RichID
    public var task: Task
    /// When the notification was due, for pacing the questions.
    public var dueAt: Timestamp

    /// Creates work.
    public init(id: RichID, task: Task, dueAt: Timestamp) {
        self.id = id
        self.task = task
        self.dueAt = dueAt
    }
}
