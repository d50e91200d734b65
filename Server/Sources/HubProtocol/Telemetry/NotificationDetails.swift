import RichPushModel

/// What became of a notification (Reference/AzureNotificationHubs.md#2-9). Not an Atom entry.
public struct NotificationDetails: Hashable, Sendable {
    /// Where a notification stands. Of the states that are documented, those that break no client: Java throws at `Cancelled` and
    /// `DetailedStateAvailable`, and pollers of the JavaScript client end only at `Completed` and `Abandoned`.
    public enum State: String, Sendable, CaseIterable {
        case enqueued = "Enqueued"
        case scheduled = "Scheduled"
        case processing = "Processing"
        case completed = "Completed"
        case abandoned = "Abandoned"
        case noTargetFound = "NoTargetFound"
        case canceled = "Canceled"
        case unknown = "Unknown"
    }

    public var id: String
    /// Where the notification lies; the writer gives it the scheme `sb` as the documentation has it.
    public var location: String?
    public var state: State
    public var enqueueTime: Timestamp?
    public var startTime: Timestamp?
    public var endTime: Timestamp?
    public var body: String?
    /// The tag expression as it was sent.
    public var tags: String?
    /// `apple`, `windows`, … and for template sends `appletemplate`, …
    public var targetPlatforms: [String]
    public var outcomes: [OutcomeCounts]
    public var errorDetailsURL: String?

    /// Creates details.
    public init(
        id: String, location: String? = nil, state: State, enqueueTime: Timestamp? = nil, startTime: Timestamp? = nil,
        endTime: Timestamp? = nil, body: String? = nil, tags: String? = nil, targetPlatforms: [String] = [],
        outcomes: [OutcomeCounts] = [], errorDetailsURL: String? = nil
    ) {
        self.id = id
        self.location = location
        self.state = state
        self.enqueueTime = enqueueTime
        self.startTime = startTime
        self.endTime = endTime
        self.body = body
        self.tags = tags
        self.targetPlatforms = targetPlatforms
        self.outcomes = outcomes
        self.errorDetailsURL = errorDetailsURL
    }
}
