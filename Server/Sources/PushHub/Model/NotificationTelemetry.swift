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
    /// The same by platform. A native send has its own platform here, even when it reached nobody.
    public var platformOutcomes: [Platform: [TargetOutcome: Int]]
    /// How many targets ended with an outcome for each reason that was given. Outcomes without a reason are not in it.
    public var reasons: [OutcomeReason: Int] = [:]
    /// What the send waits for, while its last try could not be made.
    public var wait: SendWait?
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

/// An outcome of targets of one platform, and the push service's or the transport's word for it.
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

    /// Creates a reason.
    public init(platform: Platform = .apns, outcome: TargetOutcome, reason: String) {
        self.platform = platform
        self.outcome = outcome
        self.reason = Self.cut(reason)
    }

    /// The reason, as far as it is kept.
    static func cut(_ reason: String) -> String {
        reason.utf8.count <= longest ? reason : String(decoding: reason.utf8.prefix(longest), as: UTF8.self)
    }
}

/// What a send waits for.
public struct SendWait: Hashable, Sendable {
    /// Who has to act.
    public enum Cause: String, Sendable, CaseIterable {
        /// An operator has to correct the credential or the configuration.
        case `operator`
        /// The push service, or the way to it, has to come back.
        case pushService = "push-service"
    }

    public var cause: Cause
    /// The push service's or the transport's word.
    public var reason: String

    /// Creates a wait.
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

    /// The place of the target in the walk; of a direct send its position in the call, from 1.
    public var key: SliceKey
    public var platform: Platform
    /// Absent for a direct send, and for a device that was removed.
    public var record: RecordID?
    public var outcome: TargetOutcome
    /// The push service's or the transport's word, if there was one.
    public var reason: String?

    /// Creates a failure.
    public init(key: SliceKey, platform: Platform, record: RecordID?, outcome: TargetOutcome, reason: String?) {
        self.key = key
        self.platform = platform
        self.record = record
        self.outcome = outcome
        self.reason = reason
    }
}
