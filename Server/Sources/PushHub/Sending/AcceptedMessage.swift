import RichPushModel

/// A message that passed every check; nothing about it is left open.
public struct AcceptedMessage: Hashable, Sendable {
    public var format: SendFormat
    /// For a template send the properties.
    public var body: [UInt8]
    /// For a template send empty: each template says it, or its result shows it.
    public var pushType: String
    /// For a template send 0, for the same reason.
    public var priority: Int
    /// For a template send what the collapse ids of its alerts begin with, if they are to have any.
    public var collapseID: String?
    /// The caller's expiry; it becomes `apns-expiration` and ends the retries.
    public var expiresAt: Timestamp?
    public var topic: String?

    /// Whether the body is larger than its push service carries: no target gets it. Of a template send each result is judged.
    var isTooLarge: Bool { format == .native(.apns) && body.count > MessageCheck.largestBody(ofType: pushType) }

    /// Creates a message.
    public init(
        body: [UInt8], pushType: String, priority: Int, format: SendFormat = .native(.apns), collapseID: String? = nil,
        expiresAt: Timestamp? = nil,
        topic: String? = nil
    ) {
        self.format = format
        self.body = body
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.topic = topic
    }
}
