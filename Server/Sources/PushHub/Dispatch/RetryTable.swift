import RichPushModel

/// What follows each way in which a push may end: how often it is tried, how long it waits, and what its sender sees.
///
/// The dispatcher decides by this value alone, and `Documentation/Retries.md` is printed from it. Which reason of APNs leads to which
/// ending stands in `APNsDisposition`, after Apple's "Handling notification responses from APNs".
public struct RetryTable: Hashable, Sendable {
    /// How one try of a push ended.
    public enum Ending: String, Sendable, CaseIterable {
        /// The push service took it.
        case accepted
        /// The push service says that the device token is dead.
        case gone
        /// The push service says that the token is malformed or of the other environment.
        case badToken = "bad-token"
        /// The push service refuses this push for good.
        case rejected
        /// The push service says that the body is too large.
        case tooLarge = "too-large"
        /// Nothing here sends to the target.
        case noTransport = "no-transport"
        /// The push service refuses this push for now.
        case deferred
        /// The push did not leave, because the push service or the way to it cannot be used.
        case unreachable
        /// The push service answers that it cannot serve now.
        case unavailable
        /// The push did not leave, because the credential or the configuration is wrong.
        case misconfigured
        /// The push left, and there is no answer.
        case unknown
    }

    /// How often a push is tried, the first try included.
    public enum Tries: Hashable, Sendable {
        case once
        case atMost(Int)
        /// Until the expiry of its send; without one until the retry horizon has passed since the first try.
        case untilDeadline
    }

    /// One line of the table.
    public struct Rule: Hashable, Sendable {
        public var tries: Tries
        /// What is counted when no more tries are left.
        public var outcome: TargetOutcome
        /// The wait before the next try; absent where there is none.
        var backOff: BackOff?
    }

    /// The push types of which a second copy does no harm: an alert replaces its first copy by the collapse id, and the others ask an
    /// app to look at a state. A second copy of any other type rings again, wakes the app again, or costs a part of a daily budget.
    public static let repeatable: Set<String> = ["alert", "fileprovider", "mdm", "widgets", "controls"]

    /// How often a push of a repeatable type may be sent while it is not known whether it arrived. At least 1.
    public var unknownTries: Int

    /// Creates a table.
    public init(unknownTries: Int = 3) { self.unknownTries = max(1, unknownTries) }

    /// What follows an ending of a push of this type.
    public func rule(for ending: Ending, pushType: String) -> Rule {
        switch ending {
        case .accepted: Rule(tries: .once, outcome: .accepted)
        case .gone: Rule(tries: .once, outcome: .gone)
        case .badToken: Rule(tries: .once, outcome: .badToken)
        case .rejected: Rule(tries: .once, outcome: .rejected)
        case .tooLarge: Rule(tries: .once, outcome: .tooLarge)
        case .noTransport: Rule(tries: .once, outcome: .noTransport)
        case .deferred: Rule(tries: .untilDeadline, outcome: .rejected, backOff: .target)
        case .unreachable: Rule(tries: .untilDeadline, outcome: .expired, backOff: .unreachable)
        case .unavailable: Rule(tries: .untilDeadline, outcome: .expired, backOff: .unavailable)
        case .misconfigured: Rule(tries: .untilDeadline, outcome: .expired, backOff: .misconfigured)
        case .unknown:
            Self.repeatable.contains(pushType) && unknownTries > 1
                ? Rule(tries: .atMost(unknownTries), outcome: .unknown, backOff: .target)
                : Rule(tries: .once, outcome: .unknown)
        }
    }
}

extension RetryTable.Rule {
    /// Whether another try may follow when `tries` have ended this way.
    func allowsAnother(after tries: Int) -> Bool {
        switch self.tries {
        case .once: false
        case .atMost(let most): tries < most
        case .untilDeadline: true
        }
    }
}

extension RetryTable.Ending {
    /// The ending that an outcome is.
    public init(_ outcome: PushOutcome) {
        switch outcome {
        case .accepted: self = .accepted
        case .gone: self = .gone
        case .badToken: self = .badToken
        case .rejected: self = .rejected
        case .tooLarge: self = .tooLarge
        case .unsupported: self = .noTransport
        case .retry: self = .deferred
        case .notSent: self = .unreachable
        case .unavailable: self = .unavailable
        case .misconfigured: self = .misconfigured
        case .unknown: self = .unknown
        }
    }
}
