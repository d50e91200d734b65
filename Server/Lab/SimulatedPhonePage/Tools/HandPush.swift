/// A push as a developer wrote it: headers of APNs and a body that nobody changed (Reference/APNs.md#3-2).
public struct HandPush: Hashable, Sendable, Codable {
    static let fields: Set<String> = ["pushType", "priority", "topic", "expiration", "collapseId", "apnsId", "payload"]

    public var pushType: String
    /// 10, 5 or 1; absent leaves the header out.
    public var priority: Int?
    /// Absent means the app of the phone.
    public var topic: String?
    /// Seconds since 1970; absent leaves the header out, which is not the same as 0.
    public var expiration: Int64?
    public var collapseId: String?
    /// A UUID; absent lets one be made.
    public var apnsId: String?
    /// The body, JSON as it was typed.
    public var payload: String

    /// Creates a push.
    public init(
        pushType: String = "alert", priority: Int? = nil, topic: String? = nil, expiration: Int64? = nil,
        collapseId: String? = nil, apnsId: String? = nil, payload: String
    ) {
        self.pushType = pushType
        self.priority = priority
        self.topic = topic
        self.expiration = expiration
        self.collapseId = collapseId
        self.apnsId = apnsId
        self.payload = payload
    }
}

/// What became of a push that was sent by hand.
public struct HandPushAnswer: Hashable, Sendable, Codable {
    /// What APNs answered; absent when no answer came.
    public var status: Int?
    /// With a refusal the reason of APNs; without an answer, why none came.
    public var reason: String?
    /// What the push is known by in the story.
    public var apnsId: String
    /// With 410: since when the device token is dead, in milliseconds since 1970.
    public var timestamp: Int64?

    /// Creates an answer.
    public init(status: Int?, reason: String? = nil, apnsId: String, timestamp: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.apnsId = apnsId
        self.timestamp = timestamp
    }
}
