import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A send that is due later, once or again and again. Each time it becomes an ordinary send.
public struct Schedule: Hashable, Sendable {
    /// Whether it is still due; the raw value is stored.
    public enum State: String, Sendable {
        /// Another person has to approve it before it waits.
        case proposed
        case waiting, ended, cancelled, failed
    }

    public var id: Int64
    /// Counts its changes: what was decided about an earlier revision holds no longer.
    public var revision: Int64
    public var draft: ScheduleDraft
    /// Whether this version of the server understands what is stored. If not, the request is empty and the audience matches no device.
    public var isReadable = true
    public var state: State
    public var sent: Int
    public var missed: Int
    public var lastSend: RichID?
    public var fault: String?
    /// The name of the user who approved it.
    public var approvedBy: String?
    public var createdAt: Timestamp
    /// When it was created or changed last.
    public var askedAt: Timestamp

    /// Takes a schedule from storage.
    public init(
        id: Int64, revision: Int64, draft: ScheduleDraft, state: State, sent: Int, missed: Int, lastSend: RichID?, fault: String?,
        createdAt: Timestamp, askedAt: Timestamp? = nil
    ) {
        self.id = id
        self.revision = revision
        self.draft = draft
        self.state = state
        self.sent = sent
        self.missed = missed
        self.lastSend = lastSend
        self.fault = fault
        self.createdAt = createdAt
        self.askedAt = askedAt ?? createdAt
    }
}

/// What is stored of a schedule that was checked: everything but its number.
public struct ScheduleDraft: Hashable, Sendable {
    public var owner: UserID
    public var ownerName: UserName
    /// Without the audience, which is kept apart, so that a removed user can be taken out of it. Beside a link or a coupon stands the id
    /// of the content that the server wrote of it.
    public var request: ScheduleRequest
    public var audience: TagExpression
    /// When it is due next; `nil` when it is over.
    public var next: ScheduleOccurrence?

    /// Whether it waits at once, or for an approval.
    public var state: Schedule.State { request.approval == true ? .proposed : .waiting }

    /// Creates a draft.
    public init(
        owner: UserID, ownerName: UserName, request: ScheduleRequest, audience: TagExpression,
        next: ScheduleOccurrence?
    ) {
        self.owner = owner
        self.ownerName = ownerName
        self.request = request
        self.request.notification.audience = nil
        self.audience = audience
        self.next = next
    }
}

/// One time at which a schedule is due.
public struct ScheduleOccurrence: Hashable, Sendable {
    /// Its place among all dates of the schedule's rule, from zero.
    public var number: Int
    public var dueAt: Timestamp

    /// Creates an occurrence.
    public init(number: Int, dueAt: Timestamp) {
        self.number = number
        self.dueAt = dueAt
    }
}

/// How a schedule goes on from one revision. It holds only while that is the latest.
public struct ScheduleStep: Hashable, Sendable {
    public var id: Int64
    public var revision: Int64
    /// How many occurrences passed without a send.
    public var missed: Int
    /// When it is due next; `nil` ends it.
    public var next: ScheduleOccurrence?

    /// Creates a step.
    public init(id: Int64, revision: Int64, missed: Int, next: ScheduleOccurrence?) {
        self.id = id
        self.revision = revision
        self.missed = missed
        self.next = next
    }
}

/// A question for a list of schedules, newest first.
public struct ScheduleQuery: Hashable, Sendable {
    /// Of one user, or of all for `nil`.
    public var owner: UserID?
    /// Only those in this state.
    public var state: Schedule.State?
    /// Only lower numbers.
    public var below: Int64?
    public var limit: Int

    /// Creates a question.
    public init(of owner: UserID? = nil, state: Schedule.State? = nil, below: Int64? = nil, limit: Int) {
        self.owner = owner
        self.state = state
        self.below = below
        self.limit = limit
    }
}

/// Keeps schedules. Errors are `ServiceError`.
///
/// A draft with a `step` takes its schedule further in the transaction that accepts the send; `accept` throws `scheduleMovedOn` when it has
/// another revision by then.
public protocol ScheduleStore: Sendable {
    /// Stores a schedule under the next number; its contents do not expire while it waits. With an idempotency key that was used before
    /// for the same request it returns the earlier one.
    ///
    /// Throws `not-found` when a content is not the owner's or has expired, `quota-exceeded` when the owner has `limit` that wait, and
    /// `idempotency-mismatch`.
    func addSchedule(
        _ draft: ScheduleDraft, key: IdempotencyKey?, limit: Int, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Schedule

    /// Replaces what waits, or is proposed, under this revision; `nil` when it has changed or is over. Throws `not-found` as `addSchedule` does.
    func replaceSchedule(
        _ id: Int64, revision: Int64, with draft: ScheduleDraft, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Schedule?

    /// Lets a proposal wait, as it stands under this revision: `request` and `next` say when it is due. `nil` when it has changed or is no
    /// proposal any more.
    func approveSchedule(
        _ id: Int64, revision: Int64, as request: ScheduleRequest, next: ScheduleOccurrence, by name: UserName, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> Schedule?

    /// Takes a schedule further without a send. Whether it waited under this revision.
    func advance(_ step: ScheduleStep, at now: Timestamp) async throws -> Bool

    /// Notes why a send that was due failed, and puts the next attempt off. Whether the schedule waited under this revision.
    func postponeSchedule(_ id: Int64, revision: Int64, until moment: Timestamp, fault: String) async throws

    /// Ends what waits, or is proposed, under this revision or any for `nil`. Its contents expire now unless something else uses them.
    /// Whether there was something to end.
    func endSchedule(
        _ id: Int64, revision: Int64?, as end: Schedule.State, fault: String?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool

    /// The schedule, whatever its state.
    func schedule(_ id: Int64) async throws -> Schedule?

    /// The schedule that this user's idempotency key stands for. Throws `idempotency-mismatch`.
    func schedule(repeating key: IdempotencyKey, of user: UserID) async throws -> Schedule?

    /// A page of schedules.
    func schedules(_ query: ScheduleQuery) async throws -> [Schedule]

    /// Schedules that are due, or whose next attempt is, at most `limit`, the oldest first.
    func dueSchedules(at now: Timestamp, limit: Int) async throws -> [Schedule]

    /// Deletes at most `limit` that ended before `moment`; returns how many.
    func removeSchedules(endedBefore moment: Timestamp, limit: Int) async throws -> Int
}

extension ServiceError {
    /// The schedule of a send was taken further by another node, changed or ended.
    public static let scheduleMovedOn = ServiceError(.conflict, "the schedule was changed, or sent by another node")
}

/// A value that is stored as JSON; equal values have the same text.
public protocol StoredAsText: Codable {}

extension ScheduleRequest: StoredAsText {}
extension JSONValue: StoredAsText {}

extension StoredAsText {
    /// The form in which it is stored.
    public var storedText: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// Reads the stored form.
    public init?(storedText: String) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(storedText.utf8)) else { return nil }
        self = read
    }
}
