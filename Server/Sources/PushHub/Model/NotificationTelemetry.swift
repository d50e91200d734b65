import RichPushModel
import TagExpressions

/// Where a send stands and what became of its targets. Each target counts once; in state `completed` the sum of the counts
/// is the audience.
public struct NotificationTelemetry: Hashable, Sendable {
    /// So many sends are asked for at once, as a list has them on a page.
    public static let pageLimit = 50

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
    /// The same by platform. A native send has its own platform here, even when it had no targets.
    public var platformOutcomes: [Platform: [TargetOutcome: Int]]
    /// How many targets ended with an outcome for each reason that was given. Outcomes without a reason are not in it.
    public var reasons: [OutcomeReason: Int] = [:]
    /// What the send waits for, while its last try could not be made.
    public var wait: SendWait?
    /// The same by push service: one of several may wait alone. Empty for a hub elsewhere.
    public var waits: [Platform: SendWait] = [:]
    /// How many devices the send is for. Absent while a send to more than 10,000 is under way, and before a scheduled one is due.
    public var targets: Int?
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

extension NotificationTelemetry {
    /// What the part of the send for a platform waits for.
    public func wait(for platform: Platform) -> SendWait? { waits.isEmpty ? wait : waits[platform.service] }
}

/// An outcome of targets of one platform, and the reason from the push service or the transport.
public struct OutcomeReason: Hashable, Sendable {
    /// The longest reason, in bytes. What is longer is cut: it is text of the push service.
    public static let longest = 64
    /// The most reasons of one slice of a send that have a count of their own.
    public static let limit = 32
    /// Counts the reasons beyond those.
    public static let other = "other"

    public var platform: Platform
    public var outcome: TargetOutcome
    public let reason: String

    public init(platform: Platform = .apns, outcome: TargetOutcome, reason: String) {
        self.platform = platform
        self.outcome = outcome
        self.reason = Self.cut(reason)
    }

    /// The reason, as far as it is kept.
    static func cut(_ reason: String) -> String {
        reason.utf8.count <= longest ? reason : String(decoding: reason.utf8.prefix(longest), as: UTF8.self)
    }

    /// A reason for a person, as the end of a sentence. What a push service answered stays in its own words.
    public static func words(of reason: String) -> String { ofConnection[reason] ?? reason }

    /// Why the client of a push service got no answer.
    private static let ofConnection = [
        "unreachable": "no connection could be made",
        "name-not-resolved": "the name of the host has no address",
        "proxy-refused": "the proxy refused the connection, or did not answer",
        "proxy-unauthorized": "the proxy wants other credentials",
        "tls-failed": "no connection with TLS could be made: a certificate is not trusted, or was refused",
        "connection-closed": "the connection ended before the answer",
        "refused-stream": "the service did not process it",
        "stream-reset": "the service ended the request without an answer",
        "service-unavailable": "the service is not available",
        "throttled": "the service asked for fewer requests",
        "deadline": "no answer came in time",
        "queue-full": "too many requests wait already",
        "protocol-error": "what answers does not keep to HTTP/2",
        "other-protocol": "the server does not speak HTTP/2",
        "cancelled": "it was called off",
        "credential-refused": "the service refused the credential",
    ]
}

/// What a send waits for.
public struct SendWait: Hashable, Sendable {
    /// The party that has to act.
    public enum Cause: String, Sendable, CaseIterable {
        /// An operator has to correct the credential or the configuration.
        case `operator`
        /// The push service, or the way to it, has to come back, or it refused the next push for now.
        case pushService = "push-service"
    }

    public var cause: Cause
    /// As the push service or the transport states it.
    public var reason: String

    public init(_ cause: Cause, reason: String) {
        self.cause = cause
        self.reason = reason
    }

    /// The form in which it is stored: the cause, a blank, the reason.
    public var stored: String { "\(cause.rawValue) \(reason)" }

    /// Reads the stored form.
    public init?(stored: String) {
        let parts = stored.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let cause = Cause(rawValue: String(parts[0])) else { return nil }
        self.init(cause, reason: String(parts[1]))
    }
}

/// A target that ended without its push. Device tokens are not in it.
public struct TargetFailure: Hashable, Sendable {
    /// At most so many are kept for each slice of a send, those that ended first.
    public static let limit = 100

    /// The place of the target among the failures, by which one device is found: `SliceKey(of:)` of its record. Of a direct send its
    /// position in the call, from 1.
    public var key: SliceKey
    public var platform: Platform
    /// Absent for a direct send, and for a device that was removed.
    public var record: RecordID?
    public var outcome: TargetOutcome
    /// The reason from the push service or the transport, if there was one.
    public var reason: String?

    public init(key: SliceKey, platform: Platform, record: RecordID?, outcome: TargetOutcome, reason: String?) {
        self.key = key
        self.platform = platform
        self.record = record
        self.outcome = outcome
        self.reason = reason
    }
}

/// The life of a send.
public enum NotificationState: String, Sendable, CaseIterable {
    /// Accepted, due later.
    case scheduled
    /// Accepted and due, no slice leased yet.
    case accepted
    /// At least one slice was leased.
    case dispatching
    /// Every target has an outcome.
    case completed
    /// Cancelled or recalled before every target had one.
    case cancelled
    /// Its time ran out before every target was tried.
    case expired
    /// Could not be dispatched at all.
    case failed

    /// Whether nothing more will happen.
    public var isFinal: Bool {
        switch self {
        case .scheduled, .accepted, .dispatching: false
        case .completed, .cancelled, .expired, .failed: true
        }
    }
}

/// What became of one target, for the tallies. The raw value is stored and shown.
public enum TargetOutcome: String, Sendable, CaseIterable {
    /// The push service took it.
    case accepted
    /// The push service says that the device token is dead; the record was removed.
    case gone
    /// The push service says the token is malformed or of the other environment; the record became inactive. Or a direct send named
    /// what is no token.
    case badToken = "bad-token"
    /// The push service refused this push for another reason.
    case rejected
    /// The push, or what a template made of the send, is larger than the push service takes.
    case tooLarge = "too-large"
    /// What a template made of the send is nothing that the push service takes.
    case invalidFormat = "invalid-format"
    /// Not known whether it arrived, and no more tries are left.
    case unknown
    /// Its time ran out before it could be sent.
    case expired
    /// Not sent on purpose: another record with the same handle gets it.
    case skipped
    /// Not sent on purpose: the user has had as many sends as the frequency cap allows.
    case capped
    /// Nothing here sends to it: the platform has no transport, or the environment no credential.
    case noTransport = "no-transport"
    /// The device was removed, or was not meant any more, before it could be tried again.
    case removed
}

extension TargetOutcome {
    /// Whether the device has its push, from this record or from another one of it.
    public var isDelivered: Bool { self == .accepted || self == .skipped }

    /// Whether the device is without a push that it was to get.
    public var isFailure: Bool { !isDelivered && self != .capped }
}

/// What a push service said of a handle that is of no use any more.
public struct DeviceFeedback: Hashable, Sendable {
    /// What it said.
    public enum Reason: String, Sendable, CaseIterable {
        /// The device is gone; its records were removed.
        case gone
        /// The handle is malformed or of the other environment; its records became inactive.
        case badToken = "bad-token"
    }

    /// The number of the row, growing; 0 before it is stored.
    public var number: Int64
    public var platform: Platform
    public var handle: DeviceToken
    /// The record that was sent to; absent for a direct send.
    public var record: RecordID?
    /// The installation that the record belongs to, if any. Who adds feedback need not know it: storage looks it up.
    public var installation: RecordID?
    public var notification: NotificationID
    public var reason: Reason
    /// When the store received it, which after an outage may be later than the decision.
    public var notedAt: Timestamp

    /// Creates feedback.
    public init(
        number: Int64 = 0, platform: Platform, handle: DeviceToken, record: RecordID?, installation: RecordID? = nil,
        notification: NotificationID, reason: Reason, notedAt: Timestamp
    ) {
        self.number = number
        self.platform = platform
        self.handle = handle
        self.record = record
        self.installation = installation
        self.notification = notification
        self.reason = reason
        self.notedAt = notedAt
    }
}

/// How much there is to dispatch, over all hubs and nodes. In slices, which are what nodes work on.
public struct DispatchBacklog: Hashable, Sendable {
    /// Slices that are due and not leased, by weight.
    public var due: [SliceWeight: Int]
    /// Slices that wait for a time: scheduled, backing off or paced.
    public var waiting: Int
    /// Slices that a node has leased.
    public var leased: Int

    /// Since when the slice that is due longest waits; absent when none is due.
    public var oldestDueAt: Timestamp?

    public init(due: [SliceWeight: Int] = [:], waiting: Int = 0, leased: Int = 0, oldestDueAt: Timestamp? = nil) {
        self.due = due
        self.waiting = waiting
        self.leased = leased
        self.oldestDueAt = oldestDueAt
    }
}
