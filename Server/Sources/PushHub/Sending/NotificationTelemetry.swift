import RichPushModel
import TagExpressions

/// Where a send stands and what became of its targets. Each target counts once; in state `completed` the sum of the counts
/// is the audience.
public struct NotificationTelemetry: Hashable, Sendable {
    public var id: NotificationID
    public var state: NotificationState
    public var enqueuedAt: Timestamp
    public var dueAt: Timestamp
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    /// Where in the order of its database the send ended; absent while it goes on, and for a hub elsewhere.
    public var endOrder: OrderNumber?
    /// Over all platforms.
    public var outcomes: [TargetOutcome: Int]
    /// The same by platform. A native send has its own platform here, even when it reached nobody.
    public var platformOutcomes: [Platform: [TargetOutcome: Int]]
    public var format: SendFormat
    /// The expression, if the send had one.
    public var audience: TagExpression?
    /// Whether it went to handles.
    public var isDirect: Bool
    /// What was sent, as it was given; for a template send its properties.
    public var body: [UInt8]

    /// Creates telemetry.
    public init(
        id: NotificationID, state: NotificationState, enqueuedAt: Timestamp, dueAt: Timestamp, startedAt: Timestamp? = nil,
        endedAt: Timestamp? = nil, outcomes: [TargetOutcome: Int] = [:],
        platformOutcomes: [Platform: [TargetOutcome: Int]] = [:], format: SendFormat = .native(.apns),
        audience: TagExpression? = nil, isDirect: Bool = false, body: [UInt8] = []
    ) {
        self.id = id
        self.state = state
        self.enqueuedAt = enqueuedAt
        self.dueAt = dueAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.outcomes = outcomes
        self.platformOutcomes = platformOutcomes
        self.format = format
        self.audience = audience
        self.isDirect = isDirect
        self.body = body
    }
}
