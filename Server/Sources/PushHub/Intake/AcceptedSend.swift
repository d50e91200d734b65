import RichPushModel
import TagExpressions

/// A send as intake hands it to storage: one transaction makes all of it durable.
public struct AcceptedSend: Hashable, Sendable {
    /// An idempotency key and the digest of what it stands for.
    public struct Idempotency: Hashable, Sendable {
        public var key: String
        public var digest: [UInt8]

        /// Creates a pair.
        public init(key: String, digest: [UInt8]) {
            self.key = key
            self.digest = digest
        }
    }

    public var hub: HubID
    public var id: NotificationID
    public var message: AcceptedMessage
    public var recipients: SendRecipients
    /// The audience as intake has compiled it. Where it is absent the store compiles it; a direct send has none.
    public var query: AudienceQuery?
    public var enqueuedAt: Timestamp
    public var dueAt: Timestamp
    public var slices: SlicePlan
    /// How many devices it is for, as far as that is known now.
    public var targets: Int?
    /// At most so many pushes leave in a second, by each node.
    public var pushesPerSecond: Int?
    public var idempotency: Idempotency?

    /// Creates a send to everyone, or to who matches.
    public init(
        hub: HubID, id: NotificationID, message: AcceptedMessage, audience: TagExpression?, enqueuedAt: Timestamp,
        dueAt: Timestamp, slices: SlicePlan, pushesPerSecond: Int? = nil, idempotency: Idempotency? = nil
    ) {
        self.init(
            hub: hub, id: id, message: message, recipients: SendRecipients(audience), enqueuedAt: enqueuedAt, dueAt: dueAt,
            slices: slices, pushesPerSecond: pushesPerSecond, idempotency: idempotency)
    }

    /// Creates a send. The slices of a direct send are ranges of positions.
    public init(
        hub: HubID, id: NotificationID, message: AcceptedMessage, recipients: SendRecipients, enqueuedAt: Timestamp,
        dueAt: Timestamp, slices: SlicePlan, pushesPerSecond: Int? = nil, idempotency: Idempotency? = nil
    ) {
        self.hub = hub
        self.id = id
        self.message = message
        self.recipients = recipients
        self.enqueuedAt = enqueuedAt
        self.dueAt = dueAt
        self.slices = slices
        self.pushesPerSecond = pushesPerSecond
        self.idempotency = idempotency
    }

    /// Whether it begins later than it was accepted.
    public var isScheduled: Bool { dueAt > enqueuedAt }

    /// The expression, if there is one; a direct send has none either.
    public var audience: TagExpression? { recipients.audience }
}
