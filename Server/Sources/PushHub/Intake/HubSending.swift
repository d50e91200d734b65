import RichPushModel
import ServiceErrors
import TagExpressions

/// What a hub does for its senders. Implemented by the local hub, and by a client of a remote one.
///
/// Errors are `ServiceError`.
public protocol HubSending: Sendable {
    /// Accepts a send. Returns once it is durable: from then on it survives `kill -9` at any moment.
    func send(_ command: SendCommand) async throws -> SendReceipt

    /// Where a send stands; `nil` when the hub does not know it.
    func telemetry(of id: NotificationID) async throws -> NotificationTelemetry?

    /// Where several sends stand, asked at once; those that the hub does not know are absent. `nil` where each would be a question of its
    /// own to another server.
    func telemetry(of ids: [NotificationID]) async throws -> [NotificationID: NotificationTelemetry]?

    /// Targets of a send that ended without their push, with this outcome or any, in the order of their places after `place`. At
    /// most `limit` of those that are kept; none where the hub keeps none.
    func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int
    ) async throws -> [TargetFailure]

    /// How many devices a send to every platform with this audience would reach now. Throws `conflict` where the hub does not count.
    func count(_ audience: TagExpression) async throws -> AudienceCount

    /// The time zones in which devices of the audience are, for the moments of a send by local time; `ZoneMoments.otherZones` for devices
    /// without one. Those of other devices may be among them. Throws `conflict` where the hub knows no zones.
    func timeZones(of audience: TagExpression) async throws -> Set<String>

    /// Whether the hub decides for each device what it gets: translations, groups and frequency caps.
    var decidesForDevices: Bool { get }

    /// How many targets of each group of a send ended with each outcome; empty for a send without groups.
    func groupOutcomes(of id: NotificationID) async throws -> [Int: [TargetOutcome: Int]]

    /// What became of devices of a send that reports it, in the order of their numbers, at most `limit` reports.
    func outcomeReports(of id: NotificationID, limit: Int) async throws -> [OutcomeReport]

    /// Removes reports of a send by their numbers. Others of lower numbers may come to light later.
    func removeOutcomeReports(_ numbers: [Int64], of id: NotificationID) async throws

    /// What the frequency cap of a send says of a device; `nil` for a send without one, and for a device that is not known.
    func capCount(of device: RecordID, for id: NotificationID) async throws -> CapCount?

    /// How far a send by local time has come, in the order of time; empty for any other.
    func waves(of id: NotificationID) async throws -> [WaveProgress]

    /// The send that was taken under this key; `nil` when there is none.
    func notification(idempotencyKey: String) async throws -> NotificationID?

    /// Stops a send: no slice is leased any more; a batch that has left is not called back. Whether there was anything to stop.
    func cancel(_ id: NotificationID) async throws -> Bool

    /// Stops the send that was taken under this key, and closes the key: a send that comes later under it is refused with
    /// `idempotency-mismatch`. For a caller that does not know whether its send arrived. Whether there was anything to stop.
    func cancel(idempotencyKey: String) async throws -> Bool

    /// Creates or replaces a device.
    func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord

    /// The record, or `nil`.
    func device(_ id: RecordID) async throws -> DeviceRecord?

    /// Removes a device; whether there was one.
    func removeDevice(_ id: RecordID) async throws -> Bool
}

extension HubSending {
    /// `nil`.
    public func telemetry(of ids: [NotificationID]) async throws -> [NotificationID: NotificationTelemetry]? { nil }

    /// None.
    public func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int
    ) async throws -> [TargetFailure] { [] }

    /// A refusal.
    public func count(_ audience: TagExpression) async throws -> AudienceCount {
        throw ServiceError(.conflict, "the hub elsewhere does not count audiences; the status of a send says how many it reached")
    }
}

extension HubSending {
    /// None.
    public func outcomeReports(of id: NotificationID, limit: Int) async throws -> [OutcomeReport] { [] }

    /// Does nothing: there are none.
    public func removeOutcomeReports(_ numbers: [Int64], of id: NotificationID) async throws {}

    /// `false`.
    public var decidesForDevices: Bool { false }

    /// None.
    public func groupOutcomes(of id: NotificationID) async throws -> [Int: [TargetOutcome: Int]] { [:] }

    /// `nil`.
    public func capCount(of device: RecordID, for id: NotificationID) async throws -> CapCount? { nil }

    /// None.
    public func waves(of id: NotificationID) async throws -> [WaveProgress] { [] }

    /// A refusal.
    public func timeZones(of audience: TagExpression) async throws -> Set<String> {
        throw ServiceError(.conflict, "the hub elsewhere does not know the time zones of devices")
    }
}

/// Is called for all that happens to sends, as it happens: for metrics, and for the story of the demo. Calls must return at once;
/// nothing depends on them.
public protocol HubObserver: Sendable {
    /// A send is durable.
    func accepted(_ send: AcceptedSend)

    /// A send reached a final state.
    func ended(_ notification: NotificationID, in hub: HubID, state: NotificationState)

    /// This node's dispatcher leased a slice, or released it.
    func leased(_ weight: SliceWeight)
    func released(_ weight: SliceWeight)

    /// A batch is about to leave. So many of its pushes are another try, and of so many of these an earlier try may have arrived.
    func sending(_ batch: PushBatch, of notification: NotificationID, retries: Int, doubtful: Int)

    /// A batch came back from the transport; outcomes in the order of the targets.
    func sent(_ batch: PushBatch, of notification: NotificationID, outcomes: PushOutcomes)
}
