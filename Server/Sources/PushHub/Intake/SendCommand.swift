import RichPushModel
import TagExpressions

/// A send as a caller asks for it.
public struct SendCommand: Hashable, Sendable {
    public var message: PushMessage
    /// Which targets of a device it means.
    public var format: SendFormat
    public var recipients: SendRecipients
    /// When it is due; absent means now.
    public var dueAt: Timestamp?
    /// At most so many pushes of this send leave in a second, 1 to 100,000: it protects what the audience fetches its content
    /// from. Absent means as fast as the push service takes them. Each slice has its share of it, so it holds over all nodes
    /// together (`SlicePlan.share`).
    public var pushesPerSecond: Int?
    /// Repeats the answer of an earlier send with the same key and content instead of sending again. 1 to 128 bytes.
    public var idempotencyKey: String?

    /// Creates a command to everyone, or to who matches.
    public init(
        message: PushMessage, audience: TagExpression?, dueAt: Timestamp? = nil, pushesPerSecond: Int? = nil,
        idempotencyKey: String? = nil
    ) {
        self.init(
            message: message, recipients: SendRecipients(audience), dueAt: dueAt, pushesPerSecond: pushesPerSecond,
            idempotencyKey: idempotencyKey)
    }

    /// Creates a command.
    public init(
        message: PushMessage, format: SendFormat = .native(.apns), recipients: SendRecipients, dueAt: Timestamp? = nil,
        pushesPerSecond: Int? = nil, idempotencyKey: String? = nil
    ) {
        self.message = message
        self.format = format
        self.recipients = recipients
        self.dueAt = dueAt
        self.pushesPerSecond = pushesPerSecond
        self.idempotencyKey = idempotencyKey
    }

    /// The expression of the recipients, if there is one; a direct send has none either.
    public var audience: TagExpression? {
        get { recipients.audience }
        set { recipients = SendRecipients(newValue) }
    }

    /// The values that `pushesPerSecond` may have.
    public static let paceRange = 1...100_000
}

/// The answer to a send that was accepted: it is on disk and will be dispatched.
public struct SendReceipt: Hashable, Sendable {
    public var id: NotificationID
    public var dueAt: Timestamp
    /// Whether this repeats the answer of an earlier send with the same idempotency key.
    public var isRepeat: Bool
    /// How many devices the send is for. Absent for a repeat, for more than 10,000, for a scheduled send and for a hub elsewhere.
    public var targets: Int?

    /// Creates a receipt.
    public init(id: NotificationID, dueAt: Timestamp, isRepeat: Bool, targets: Int? = nil) {
        self.id = id
        self.dueAt = dueAt
        self.isRepeat = isRepeat
        self.targets = targets
    }
}
