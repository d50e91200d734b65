import RichPushModel

/// What follows each way in which a push may end: how often it is tried, how long it waits, and what its sender sees.
///
/// The dispatcher decides by this value alone, for every platform, and `Documentation/Retries.md` is printed from it. Which reason of
/// APNs leads to which ending stands in `APNsDisposition`, after Apple's "Handling notification responses from APNs". The answers of FCM
/// and of browsers' push services are judged in `FCMDelivery` and `WebPushDelivery`.
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
        case .notSent, .delayed: self = .unreachable
        case .unavailable: self = .unavailable
        case .misconfigured: self = .misconfigured
        case .unknown: self = .unknown
        }
    }
}

/// How long to wait before the next try: doubling, capped, and spread so that many do not come back together.
package struct BackOff: Hashable, Sendable {
    let base: Duration
    let cap: Duration

    package init(base: Duration, cap: Duration) { (self.base, self.cap) = (base, cap) }

    /// The service cannot be reached. Short, because the wait goes on after its return; the transport holds what it cannot send for
    /// its own deadline, so that this is no haste.
    static let unreachable = BackOff(base: .seconds(1), cap: .seconds(3))
    /// The service answers that it is unavailable. Longer, because each try is one more request to a service in trouble.
    static let unavailable = BackOff(base: .seconds(1), cap: .seconds(60))
    /// An operator has to correct the configuration.
    static let misconfigured = BackOff(base: .seconds(30), cap: .seconds(300))
    /// One push was refused for now, or its fate is unknown.
    static let target = BackOff(base: .seconds(2), cap: .seconds(300))

    /// The wait after `failures` failures (from 1), at least `minimum`. `jitter` is 0 to 1 and takes up to half of it away;
    /// what the service itself asked for is never shortened, but drawn out by up to a tenth, so that not all come back at once.
    package func delay(failures: Int, jitter: Double, minimum: Duration = .zero) -> Duration {
        let doubled = base * (1 << min(max(failures, 1) - 1, 16))
        let spread = min(doubled, cap) * (1 - min(max(jitter, 0), 1) / 2)
        return max(spread, minimum * (1 + min(max(jitter, 0), 1) / 10))
    }
}

extension RetryTable {
    /// The table of `Documentation/Retries.md` that says what follows each ending, for the table's own settings.
    public var markdown: String {
        var lines = [
            "| A try ends with | Push types | Tries | Wait before the next | Counted at last as |",
            "| --- | --- | --- | --- | --- |",
        ]
        for ending in Ending.allCases { lines += rows(ending) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func rows(_ ending: Ending) -> [String] {
        let common = rule(for: ending, pushType: "alert")
        let others = rule(for: ending, pushType: "voip")
        guard common != others else { return [row(ending, "all", common)] }
        return [
            row(ending, Self.repeatable.sorted().map { "`\($0)`" }.joined(separator: ", "), common),
            row(ending, "all others", others),
        ]
    }

    private func row(_ ending: Ending, _ types: String, _ rule: Rule) -> String {
        let tries =
            switch rule.tries {
            case .once: "1"
            case .atMost(let most): "\(most)"
            case .untilDeadline: "until the expiry or the retry horizon"
            }
        var wait = rule.backOff?.words ?? "none"
        // The push service or the transport names it with each outcome (`PushOutcome.retry`).
        if ending == .deferred { wait += "; at least the least wait of the reason, below" }
        let cells = ["`\(ending.rawValue)`: \(ending.meaning)", types, tries, wait, "`\(rule.outcome.rawValue)`"]
        return "| \(cells.joined(separator: " | ")) |"
    }
}

extension RetryTable.Ending {
    fileprivate var meaning: String {
        switch self {
        case .accepted: "the push service took the push"
        case .gone: "the push service says that the device token is dead"
        case .badToken: "the device token is malformed, or of another environment or project"
        case .rejected: "the push service refuses this push for good"
        case .tooLarge: "the body is larger than the push service takes"
        case .noTransport: "nothing here sends to the platform or the environment of the device"
        case .deferred: "the push service refuses this push for now"
        case .unreachable: "the push did not leave: the push service or the way to it cannot be used"
        case .unavailable: "the push service answers that it cannot serve now"
        case .misconfigured: "the push did not leave: an operator has to correct the credential or the configuration"
        case .unknown: "the push left and was not answered"
        }
    }
}

extension BackOff {
    fileprivate var words: String {
        "\(base.components.seconds) s, doubling to \(cap.components.seconds) s, up to half of it less"
    }
}
