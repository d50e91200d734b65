import RichPushModel
import TagExpressions

/// Makes sends durable. Errors are `ServiceError` (`storage-unavailable`, `outcome-unknown`).
public protocol IntakeStore: Sendable {
    /// Compiles an audience by what the index holds of its tags now, and counts it up to `limit`. No expression means every record.
    ///
    /// - Parameter entries: entries of the index that are counted besides.
    func compile(
        _ audience: TagExpression?, in hub: HubID, limit: Int, counting entries: [String]
    ) async throws -> CompiledAudience

    /// How many records a send of one of these formats means now. It reads the whole audience.
    func targets(of query: AudienceQuery, as formats: [SendFormat], in hub: HubID, at now: Timestamp) async throws -> Int

    /// The time zones of the hub's devices, and those of an audience alone where the index has at most `limit` entries of it.
    /// `ZoneMoments.otherZones` says that devices without a zone may be among them.
    func timeZones(of audience: TagExpression?, in hub: HubID, limit: Int) async throws -> Set<String>

    /// How many devices each of these zones has, counted up to `limit`.
    func deviceCounts(ofZones zones: Set<String>, in hub: HubID, limit: Int) async throws -> [String: Int]

    /// What was answered to this key before: `accepted` never, else `repeated` or `mismatch`; `nil` for a new key.
    func earlier(_ idempotency: AcceptedSend.Idempotency, in hub: HubID) async throws -> IntakeAnswer?

    /// The id that is kept under this key; `nil` for a new key.
    func notification(key: String, in hub: HubID) async throws -> NotificationID?

    /// Stores notification, slices and idempotency key in one transaction; from then on the send is kept. `not-found` for a hub
    /// that was removed.
    func accept(_ send: AcceptedSend) async throws -> IntakeAnswer

    /// Ends a send that has not ended; whether there was one. Slices without a lease are removed at once; a worker notices
    /// before its next batch.
    func cancel(_ id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> Bool

    /// The same for the send that was accepted under a key; returns its id if there was one to end. A new key is closed in the
    /// same transaction: what comes under it later is a `mismatch`.
    func cancel(key: String, in hub: HubID, at now: Timestamp) async throws -> NotificationID?

    /// Takes a key for a test send, of which nothing is kept but its answer. A key that was taken before `abandoned` and got no
    /// answer is taken anew, under its id: its earlier caller has died.
    func take(_ key: TestSendKey, abandonedBefore moment: Timestamp, in hub: HubID, at now: Timestamp) async throws
        -> TestSendTaking

    /// Keeps the answer of the test send that has the key; the first one stays.
    func keep(_ answer: [UInt8], for key: TestSendKey, in hub: HubID) async throws

    /// Stores a test send that is over, with the counts of its outcomes, so that telemetry includes it. Nothing is dispatched.
    func note(_ send: EndedTestSend) async throws
}

extension IntakeStore {
    /// About how many records the expression may mean.
    public func audienceSize(_ audience: TagExpression?, in hub: HubID, limit: Int) async throws -> Int {
        try await compile(audience, in: hub, limit: limit, counting: []).size
    }
}

/// An audience as a store has compiled it.
public struct CompiledAudience: Hashable, Sendable {
    public var query: AudienceQuery
    /// About how many records it may mean: found by index, never less than there are, and not more than the limit.
    public var size: Int
    /// How many records the counted entries of the index have, up to the limit.
    public var entrySizes: [String: Int]

    public init(query: AudienceQuery, size: Int, entrySizes: [String: Int] = [:]) {
        self.query = query
        self.size = size
        self.entrySizes = entrySizes
    }
}

/// A test send after its answer.
public struct EndedTestSend: Hashable, Sendable {
    /// The send, with slices that no node works on.
    public var send: AcceptedSend
    public var endedAt: Timestamp
    /// The counts by platform.
    public var outcomes: [Platform: [TargetOutcome: Int]]
}

/// What storage says to a send.
public enum IntakeAnswer: Hashable, Sendable {
    case accepted
    /// The key was used before for the same content.
    case repeated(id: NotificationID, dueAt: Timestamp)
    /// The key was used before for another content.
    case mismatch
}

/// The name under which a caller repeats a test send, and the id that this call would give it.
public struct TestSendKey: Hashable, Sendable {
    public var text: String
    public var id: NotificationID

    public init(_ text: String, id: NotificationID) {
        self.text = text
        self.id = id
    }
}

/// What storage says to the key of a test send.
public enum TestSendTaking: Hashable, Sendable {
    /// It is this caller's: send under this id, then keep the answer. The id is that of the first try, so that a push that was
    /// sent before that caller died has the same `apns-id` as its retry.
    case new(id: NotificationID)
    /// Another has it. The answer is absent while that one is still at it.
    case taken(id: NotificationID, answer: [UInt8]?)
}

/// Reads where sends stand. Errors are `ServiceError`.
public protocol TelemetryStore: Sendable {
    /// State and tallies of a send, from one snapshot; `nil` for an unknown one.
    func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry?

    /// The same of several sends from one snapshot, with a number of questions to the database that does not grow with theirs, up to
    /// `NotificationTelemetry.pageLimit`; unknown ones are absent.
    func telemetry(
        of ids: [NotificationID], in hub: HubID, at now: Timestamp
    ) async throws -> [NotificationID: NotificationTelemetry]

    /// Targets of a send that ended without their push, with this outcome or any, in the order of their places after `place`, at
    /// most `limit`.
    func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int, in hub: HubID
    ) async throws -> [TargetFailure]

    /// How many targets of each group of a send ended with each outcome; empty for a send without groups.
    func groupOutcomes(of id: NotificationID, in hub: HubID) async throws -> [Int: [TargetOutcome: Int]]

    /// What became of devices of a send that reports it, in the order of their numbers, at most `limit` reports.
    func outcomeReports(of id: NotificationID, limit: Int, in hub: HubID) async throws -> [OutcomeReport]

    /// Removes reports of a send by their numbers.
    func removeOutcomeReports(_ numbers: [Int64], of id: NotificationID, in hub: HubID) async throws

    /// What the frequency cap of a send says of a device; `nil` for a send without one, and for an unknown device.
    func capCount(of device: RecordID, for id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> CapCount?

    /// The waves of a send by local time, in the order of time; none of any other.
    func waves(of id: NotificationID, in hub: HubID) async throws -> [WaveProgress]

    /// How much there is to dispatch, in all hubs.
    func backlog(at now: Timestamp) async throws -> DispatchBacklog

    /// Feedback after the number, in its order, at most `limit`. A number is given when the row is written, so that one that
    /// is being written may come after its followers were read.
    func feedback(after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback]

    /// Feedback of one send after the number, in its order, at most `limit`. While the send goes on, more may come.
    func feedback(of id: NotificationID, after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback]

    /// Targets of a send that are named among its failures and of which feedback says nothing, in the order of their places, at most
    /// `limit`. A handle is the one that the device has now; a direct send has none. Each is noted at `moment`.
    func errors(
        of id: NotificationID, notedAt moment: Timestamp, limit: Int, in hub: HubID
    ) async throws -> [SendError]

    /// Removes what ended before the moment, idempotency keys and feedback that are older, and counts for frequency caps that count no
    /// more now, at most `limit` of each; returns how many rows went. Call it again until it returns 0.
    func sweep(endedBefore moment: Timestamp, at now: Timestamp, limit: Int) async throws -> Int
}

/// A target of a send that got no push, with the handle that was tried.
public struct SendError: Hashable, Sendable {
    public var platform: Platform
    /// Absent where it is not kept: for a direct send, and for a device that was removed since.
    public var handle: DeviceToken?
    /// The record that was sent to; absent for a direct send.
    public var record: RecordID?
    /// The installation that the record belongs to, if any.
    public var installation: RecordID?
    public var outcome: TargetOutcome
    public var notedAt: Timestamp

    public init(
        platform: Platform, handle: DeviceToken?, record: RecordID?, installation: RecordID?, outcome: TargetOutcome,
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
