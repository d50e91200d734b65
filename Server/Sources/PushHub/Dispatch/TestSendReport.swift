import RichPushModel

/// What became of a test send, device by device (Reference/AzureNotificationHubs.md#2-10).
public struct TestSendReport: Hashable, Sendable {
    /// One device.
    public struct Result: Hashable, Sendable {
        public var platform: Platform
        public var handle: DeviceHandle
        /// Absent for a direct send.
        public var record: RecordID?
        public var outcome: TargetOutcome
        /// How the one try ended; absent when the push was decided without one.
        public var ending: RetryTable.Ending?
        /// The push service's or the transport's word, if there was one.
        public var reason: String?

        /// Creates a result.
        public init(
            platform: Platform, handle: DeviceHandle, record: RecordID?, outcome: TargetOutcome,
            ending: RetryTable.Ending? = nil, reason: String? = nil
        ) {
            self.platform = platform
            self.handle = handle
            self.record = record
            self.outcome = outcome
            self.ending = ending
            self.reason = reason
        }
    }

    public var id: NotificationID
    public var results: [Result]

    /// Creates a report.
    public init(id: NotificationID, results: [Result]) {
        self.id = id
        self.results = results
    }

    /// How many the push service took.
    public var successes: Int { results.count { $0.outcome == .accepted } }
}
