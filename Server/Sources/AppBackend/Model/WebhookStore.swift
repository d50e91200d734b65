import AuditTrail
import RichPushModel

/// How the requests to a webhook go, as all nodes know it.
public struct WebhookHealth: Hashable, Sendable {
    /// No attempt is made until then.
    public var pausedUntil: Timestamp?
    /// How many pauses there were since the last success.
    public var pauses = 0
    /// How many attempts failed since then.
    public var failures = 0

    /// Creates the health of a webhook; without parameters of one where nothing fails.
    public init(pausedUntil: Timestamp? = nil, pauses: Int = 0, failures: Int = 0) {
        self.pausedUntil = pausedUntil
        self.pauses = pauses
        self.failures = failures
    }
}

/// A webhook that one node may deliver to for a while.
public struct WebhookLease: Hashable, Sendable {
    public var webhook: Webhook
    public var health: WebhookHealth

    /// Creates a lease.
    public init(webhook: Webhook, health: WebhookHealth) {
        self.webhook = webhook
        self.health = health
    }
}

/// What one attempt brought, as it is stored.
public struct WebhookAttempt: Hashable, Sendable {
    /// What becomes of the delivery.
    public enum Result: Hashable, Sendable {
        case delivered
        /// It is tried again then, and others of the same subject not before. One that `counts` is one of a limited number.
        case retry(at: Timestamp, counts: Bool)
        /// It was the last attempt.
        case failed
    }

    public var delivery: WebhookDelivery
    public var result: Result
    public var answer: WebhookDelivery.Answer

    /// Creates an attempt.
    public init(_ delivery: WebhookDelivery, _ result: Result, _ answer: WebhookDelivery.Answer) {
        self.delivery = delivery
        self.result = result
        self.answer = answer
    }
}

/// Which deliveries of a webhook are queued again.
public enum WebhookReplay: Hashable, Sendable {
    /// One, by the id of its event.
    case event(String)
    /// All in one state whose events happened since a moment.
    case since(Timestamp, WebhookDelivery.State)
}

/// A question for deliveries of a webhook, newest first.
public struct WebhookDeliveryQuery: Hashable, Sendable {
    public var webhook: Int64
    /// In one state, or in any for `nil`.
    public var state: WebhookDelivery.State?
    /// Only lower numbers.
    public var below: Int64?
    public var limit: Int

    /// Creates a question.
    public init(of webhook: Int64, state: WebhookDelivery.State? = nil, below: Int64? = nil, limit: Int) {
        self.webhook = webhook
        self.state = state
        self.below = below
        self.limit = limit
    }
}

/// Keeps webhooks and what waits for them. Errors are `ServiceError`.
///
/// An event is stored for each webhook that is enabled and wants it, in the transaction of what it is about.
public protocol WebhookStore: Sendable {
    /// Stores a webhook under the next number. Throws `quota-exceeded` when there are `limit`.
    func addWebhook(
        _ draft: WebhookDraft, state: Webhook.State, salt: [UInt8], limit: Int, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Webhook

    /// Replaces what an administrator said, and enables or disables it; what waits for a webhook that is enabled anew is tried at once.
    /// `nil` when there is none.
    func changeWebhook(
        _ id: Int64, to draft: WebhookDraft, state: Webhook.State, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Webhook?

    /// Disables it with a reason, unless it is. Whether it was enabled.
    func disableWebhook(_ id: Int64, fault: String, audit entry: AuditEntry?) async throws -> Bool

    /// Makes `salt` the salt; the one before holds until a moment. `nil` when there is none.
    func rollWebhook(_ id: Int64, salt: [UInt8], formerUntil moment: Timestamp, audit entry: AuditEntry?) async throws -> Webhook?

    /// Removes a webhook; what waits for it is removed in batches by `removeDeliveries`. Whether there was one.
    func removeWebhook(_ id: Int64, audit entry: AuditEntry?) async throws -> Bool

    /// The webhook.
    func webhook(_ id: Int64) async throws -> Webhook?

    /// All webhooks, in the order of their numbers.
    func webhooks() async throws -> [Webhook]

    /// Stores an event for one webhook, whatever it wants.
    func add(_ event: WebhookEvent, to webhook: Int64) async throws

    /// Whether a webhook that is enabled wants such events.
    func isWanted(_ kind: WebhookEvent.Kind) async throws -> Bool

    /// Stores events for each webhook that is enabled and wants them, those aside that are stored for it already.
    func announce(_ events: [WebhookEvent]) async throws

    /// Leases those webhooks to a node that are enabled and that no other node has, and lengthens its own of which at
    /// most `renewal` is left.
    func leaseWebhooks(to owner: String, until end: Timestamp, renewal: Duration, at now: Timestamp) async throws
        -> [WebhookLease]

    /// Gives up every lease of a node.
    func releaseWebhooks(of owner: String) async throws

    /// Deliveries that are due, at most `limit`, of each subject only the first that waits.
    func dueDeliveries(of webhook: Int64, at now: Timestamp, limit: Int) async throws -> [WebhookDelivery]

    /// Stores what attempts brought, and the health if it has changed. `false`, and nothing is stored, when another node has the lease.
    func settle(
        _ attempts: [WebhookAttempt], of webhook: Int64, owner: String, health: WebhookHealth?
    ) async throws -> Bool

    /// A page of deliveries.
    func deliveries(_ query: WebhookDeliveryQuery) async throws -> [WebhookDelivery]

    /// How many deliveries wait for a webhook, counted up to `limit`.
    func waitingDeliveries(of webhook: Int64, limit: Int) async throws -> Int

    /// Queues deliveries again that do not wait, at most `limit` with numbers above `number`. Returns how many, and after which number
    /// more may follow.
    func replay(
        _ replay: WebhookReplay, of webhook: Int64, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> (count: Int, next: Int64?)

    /// Deletes at most `limit` deliveries of events that happened before `moment`, or whose webhook is gone; returns how many.
    func removeDeliveries(before moment: Timestamp, limit: Int) async throws -> Int
}
