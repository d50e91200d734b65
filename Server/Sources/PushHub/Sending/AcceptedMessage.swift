import RichPushModel

/// A message that passed every check; nothing about it is left open.
public struct AcceptedMessage: Hashable, Sendable {
    public var body: [UInt8]
    public var pushType: String
    public var priority: Int
    public var collapseID: String?
    /// The caller's expiry; it becomes `apns-expiration` and ends the retries.
    public var expiresAt: Timestamp?
    public var topic: String?

    /// Creates a message.
    public init(
        body: [UInt8], pushType: String, priority: Int, collapseID: String? = nil, expiresAt: Timestamp? = nil,
        topic: String? = nil
    ) {
        self.body = body
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.topic = topic
    }
}
