import RichPushModel

/// Where a send stands and what became of its targets. Each target counts once; in state `completed` the sum of the counts
/// is the audience.
public struct NotificationTelemetry: Hashable, Sendable {
    public var id: NotificationID
    public var state: NotificationState
    public var enqueuedAt: Timestamp
    public var dueAt: Timestamp
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    public var outcomes: [TargetOutcome: Int]

    /// Creates telemetry.
    public init(
        id: NotificationID, state: NotificationState, enqueuedAt: Timestamp, dueAt: Timestamp, startedAt: Timestamp? = nil,
        endedAt: Timestamp? = nil, outcomes: [TargetOutcome: Int] = [:]
    ) {
        self.id = id
        self.state = state
        self.enqueuedAt = enqueuedAt
        self.dueAt = dueAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.outcomes = outcomes
    }
}
