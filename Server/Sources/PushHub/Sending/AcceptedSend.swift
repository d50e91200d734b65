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
    /// Absent means every device.
    public var audience: TagExpression?
    public var enqueuedAt: Timestamp
    public var dueAt: Timestamp
    public var slices: SlicePlan
    /// At most so many pushes leave in a second, by each node.
    public var pushesPerSecond: Int?
    public var idempotency: Idempotency?

    /// Creates a send.
    public init(
        hub: HubID, id: NotificationID, message: AcceptedMessage, audience: TagExpression?, enqueuedAt: Timestamp,
        dueAt: Timestamp, slices: SlicePlan, pushesPerSecond: Int? = nil, idempotency: Idempotency? = nil
    ) {
        self.hub = hub
        self.id = id
        self.message = message
        self.audience = audience
        self.enqueuedAt = enqueuedAt
        self.dueAt = dueAt
        self.slices = slices
        self.pushesPerSecond = pushesPerSecond
        self.idempotency = idempotency
    }
}
