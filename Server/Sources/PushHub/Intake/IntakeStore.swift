import RichPushModel
import TagExpressions

/// Makes sends durable. Errors are `ServiceError` (`storage-unavailable`, `outcome-unknown`).
public protocol IntakeStore: Sendable {
    /// Compiles an audience by what the index holds of its tags now, and counts it up to `limit`. No expression means every record.
    func compile(_ audience: TagExpression?, in hub: HubID, limit: Int) async throws -> CompiledAudience

    /// What was answered to this key before: `accepted` never, else `repeated` or `mismatch`; `nil` for a new key.
    func earlier(_ idempotency: AcceptedSend.Idempotency, in hub: HubID) async throws -> IntakeAnswer?

    /// The id that is kept under this key; `nil` for a new key.
    func notification(key: String, in hub: HubID) async throws -> NotificationID?

    /// Stores notification, slices and idempotency key in one transaction; from then on the send is kept. `not-found` for a hub
    /// that was removed.
    func accept(_ send: AcceptedSend) async throws -> IntakeAnswer

    /// Ends a send that has not ended; whether there was one. Slices that nobody works on go at once; a worker notices
    /// before its next batch.
    func cancel(_ id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> Bool

    /// The same for the send that was accepted under a key; returns its id if there was one to end. A new key is closed in the
    /// same transaction: what comes under it later is a `mismatch`.
    func cancel(key: String, in hub: HubID, at now: Timestamp) async throws -> NotificationID?

    /// Takes a key for a test send, of which nothing is kept but its answer. A key that was taken before `abandoned` and got no
    /// answer is taken anew, under its id: who had it is gone.
    func take(_ key: TestSendKey, abandonedBefore moment: Timestamp, in hub: HubID, at now: Timestamp) async throws
        -> TestSendTaking

    /// Keeps the answer of the test send that has the key; the first one stays.
    func keep(_ answer: [UInt8], for key: TestSendKey, in hub: HubID) async throws

    /// Stores a test send that is over, with the counts of its outcomes, so that telemetry tells of it. Nothing is dispatched.
    func note(_ send: EndedTestSend) async throws
}

extension IntakeStore {
    /// About how many records the expression may mean.
    public func audienceSize(_ audience: TagExpression?, in hub: HubID, limit: Int) async throws -> Int {
        try await compile(audience, in: hub, limit: limit).size
    }
}

/// An audience as a store has compiled it.
public struct CompiledAudience: Hashable, Sendable {
    public var query: AudienceQuery
    /// About how many records it may mean: found by index, never less than there are, and not more than the limit.
    public var size: Int

    /// Creates a value.
    public init(query: AudienceQuery, size: Int) {
        self.query = query
        self.size = size
    }
}

/// A test send after its answer.
public struct EndedTestSend: Hashable, Sendable {
    /// The send, with slices that no node works on.
    public var send: AcceptedSend
    public var endedAt: Timestamp
    /// The counts by platform.
    public var outcomes: [Platform: [TargetOutcome: Int]]

    /// Creates a value.
    public init(_ send: AcceptedSend, endedAt: Timestamp, outcomes: [Platform: [TargetOutcome: Int]]) {
        self.send = send
        self.endedAt = endedAt
        self.outcomes = outcomes
    }
}

/// What storage says to a send.
public enum IntakeAnswer: Hashable, Sendable {
    case accepted
    /// The key was used before for the same content.
    case repeated(id: NotificationID, dueAt: Timestamp)
    /// The key was used before for another content.
    case mismatch
}
