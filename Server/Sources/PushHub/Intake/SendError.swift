import RichPushModel

/// A target of a send that got no push, with the handle that was tried.
public struct SendError: Hashable, Sendable {
    public var platform: Platform
    /// Absent where it is not kept: for a direct send, and for a device that was removed since.
    public var handle: DeviceHandle?
    /// The record that was sent to; absent for a direct send.
    public var record: RecordID?
    /// The installation that the record belongs to, if any.
    public var installation: RecordID?
    public var outcome: TargetOutcome
    public var notedAt: Timestamp

    /// Creates an error.
    public init(
        platform: Platform, handle: DeviceHandle?, record: RecordID?, installation: RecordID?, outcome: TargetOutcome,
        notedAt: Timestamp
    ) {
        self.platform = platform
        self.handle = handle
        self.record = record
        self.installation = installation
        self.outcome = outcome
        self.notedAt = notedAt
    }

    /// The same from feedback.
    public init(_ feedback: DeviceFeedback) {
        self.init(
            platform: feedback.platform, handle: feedback.handle, record: feedback.record, installation: feedback.installation,
            outcome: feedback.reason == .gone ? .gone : .badToken, notedAt: feedback.notedAt)
    }

    /// The outcomes that are errors, besides those that feedback lists: something kept the push from a device that was meant.
    public static let outcomes: Set<TargetOutcome> = [.rejected, .tooLarge, .invalidFormat, .unknown, .expired, .noTransport]
}

/// Reads the errors of one send page by page: first what is not in feedback, then feedback.
public struct SendErrorPages: Sendable {
    /// The most errors that are read of one send. The feedback of a hub has no such limit.
    public static let limit = 100_000
    private static let page = 1_000

    private let store: any TelemetryStore
    private let hub: HubID
    private let id: NotificationID
    private let moment: Timestamp
    private var hasBegun = false
    private var mark: Int64 = 0
    private var rest = Self.limit

    init(_ store: any TelemetryStore, _ hub: HubID, _ id: NotificationID, moment: Timestamp) {
        self.store = store
        self.hub = hub
        self.id = id
        self.moment = moment
    }

    /// The next page, at most 1,000 errors; empty at the end.
    public mutating func next() async throws -> [SendError] {
        if !hasBegun {
            hasBegun = true
            let errors = try await store.errors(of: id, notedAt: moment, limit: Self.page, in: hub)
            rest -= errors.count
            if !errors.isEmpty { return errors }
        }
        guard rest > 0 else { return [] }
        let rows = try await store.feedback(of: id, after: mark, limit: min(Self.page, rest), in: hub)
        mark = rows.last?.number ?? mark
        rest -= rows.count
        return rows.map(SendError.init)
    }
}
