import RichPushModel

/// A message that passed every check; nothing about it is left open.
public struct AcceptedMessage: Hashable, Sendable {
    public var format: SendFormat
    /// For a template send the properties.
    public var body: [UInt8]
    /// For a template send that of the templates that say none; empty where the send says none either: their results show it.
    public var pushType: String
    /// The same; 0 where the send says none.
    public var priority: Int
    /// For a template send that of the templates that say none. The notification's own name is what those of its alerts begin with.
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
