import APNsProtocol
import AppBackend
import HTTPService
import Metrics
import PushHub
import RichPushModel
import Synchronization

/// Counts what the hub does. Label values come from closed sets, so the number of series is bounded.
final class PushMetrics: HubObserver {
    private struct Levels {
        var inFlight = 0
        var leased: [SliceWeight: Int] = [:]
        /// Those that every batch writes to, once they have been looked up.
        var inFlightGauge: Gauge?
        var outcomes: [OutcomeClass: Counter] = [:]
    }

    private let factory: any MetricsFactory
    private let clock: any ServiceClock
    private let latency: Timer
    private let levels = Mutex(Levels())

    /// Counts in `factory`. The wall clock of `clock` says how long a push was under way.
    init(factory: any MetricsFactory, clock: any ServiceClock = .system) {
        self.factory = factory
        self.clock = clock
        latency = Timer(label: MetricName.pushLatency.rawValue, factory: factory)
        // The series are there from the start, so that the first refusal is seen as a rise.
        for kind in OutcomeClass.misconfigured { _ = counter(of: kind) }
    }

    func accepted(_ send: AcceptedSend) { count(.sendsAccepted) }

    func leased(_ weight: SliceWeight) { move(weight, by: 1) }

    func released(_ weight: SliceWeight) { move(weight, by: -1) }

    func sending(_ batch: PushBatch, of notification: NotificationID, retries: Int, doubtful: Int) {
        if retries > 0 { count(.pushRetries, by: retries) }
        if doubtful > 0 { count(.pushDoubtfulRetries, by: doubtful) }
        moveInFlight(by: batch.targets.count)
    }

    func sent(_ batch: PushBatch, of notification: NotificationID, outcomes: PushOutcomes) {
        moveInFlight(by: -batch.targets.count)
        if let dueAt = batch.dueAt { measure(dueAt, outcomes) }
        if let common = outcomes.common { return counter(of: OutcomeClass(common)).increment(by: outcomes.count) }
        // A batch has up to a thousand outcomes of a few kinds: counted here first, so that each kind is one series looked up.
        var counts: [OutcomeClass: Int] = [:]
        var accepted = 0
        for outcome in outcomes {
            if case .accepted = outcome { accepted += 1 } else { counts[OutcomeClass(outcome), default: 0] += 1 }
        }
        if accepted > 0 { counts[OutcomeClass(.accepted)] = accepted }
        for (kind, count) in counts { counter(of: kind).increment(by: count) }
    }

    /// Each accepted push counts once, as long as its send was due.
    private func measure(_ dueAt: Timestamp, _ outcomes: PushOutcomes) {
        let accepted = outcomes.count { if case .accepted = $0 { true } else { false } }
        guard accepted > 0 else { return }
        let duration = max(.zero, clock.now - dueAt)
        for _ in 0..<accepted { latency.record(duration: duration) }
    }

    private func counter(of kind: OutcomeClass) -> Counter {
        levels.withLock { levels in
            if let known = levels.outcomes[kind] { return known }
            let counter = counter(.pushOutcomes, [(.result, kind.result), (.reason, kind.reason)])
            levels.outcomes[kind] = counter
            return counter
        }
    }

    func ended(_ notification: NotificationID, in hub: HubID, state: NotificationState) {
        count(.sendsEnded, [(.state, state.rawValue)])
    }

    private func count(_ name: MetricName, _ labels: [(MetricLabel, String)] = [], by amount: Int = 1) {
        counter(name, labels).increment(by: amount)
    }

    private func counter(_ name: MetricName, _ labels: [(MetricLabel, String)]) -> Counter {
        Counter(label: name.rawValue, dimensions: labels.map { ($0.0.rawValue, $0.1) }, factory: factory)
    }

    // Gauges are written under the lock, so that the last value written is the current one.

    private func moveInFlight(by step: Int) {
        levels.withLock { levels in
            levels.inFlight += step
            let gauge = levels.inFlightGauge ?? Gauge(label: MetricName.pushesInFlight.rawValue, factory: factory)
            levels.inFlightGauge = gauge
            gauge.record(levels.inFlight)
        }
    }

    private func move(_ weight: SliceWeight, by step: Int) {
        levels.withLock { levels in
            levels.leased[weight, default: 0] += step
            Gauge(
                label: MetricName.slicesLeased.rawValue, dimensions: [(MetricLabel.weight.rawValue, weight.word)],
                factory: factory
            ).record(levels.leased[weight] ?? 0)
        }
    }
}

/// Counts requests to webhooks.
struct WebhookMetrics: WebhookObserver {
    private let delivered: Counter
    private let retried: Counter
    private let failed: Counter

    /// The series are there from the start, so that the first failure is seen as a rise.
    init(factory: any MetricsFactory) {
        func counter(_ result: String) -> Counter {
            Counter(
                label: MetricName.webhookAttempts.rawValue, dimensions: [(MetricLabel.result.rawValue, result)], factory: factory)
        }
        (delivered, retried, failed) = (counter("delivered"), counter("retried"), counter("failed"))
    }

    func attempted(_ result: WebhookAttempt.Result) {
        switch result {
        case .delivered: delivered.increment()
        case .retry: retried.increment()
        case .failed: failed.increment()
        }
    }
}

extension SliceWeight {
    /// The weight as a label.
    var word: String { "\(self)" }
}

/// An outcome as two labels. Reasons are those that APNs documents and those of the client; all others are one.
struct OutcomeClass: Hashable {
    let result: String
    let reason: String

    init(_ outcome: PushOutcome) {
        switch outcome {
        case .accepted: (result, reason) = ("accepted", "none")
        case .gone: (result, reason) = ("gone", "none")
        case .badToken: (result, reason) = ("bad_token", "none")
        case .rejected(let word): (result, reason) = ("rejected", Self.reason(word))
        case .tooLarge: (result, reason) = ("too_large", "none")
        case .retry(_, let word): (result, reason) = ("retry", Self.reason(word))
        case .notSent(let word), .delayed(_, let word), .unavailable(let word, _):
            (result, reason) = ("not_sent", Self.reason(word))
        case .unknown(let word): (result, reason) = ("unknown", Self.reason(word))
        case .misconfigured(let word): (result, reason) = ("misconfigured", Self.reason(word))
        case .unsupported: (result, reason) = ("unsupported", "none")
        }
    }

    /// Every class in which a wrong credential or topic can show. An alert waits for a rise of each.
    static let misconfigured: Set<OutcomeClass> = {
        let refusals = APNsReason.documented.filter {
            switch APNsRejection(status: 403, reason: $0).disposition {
            case .fixConfiguration, .newToken, .newConnection: true
            case .drop, .removeToken, .badToken, .fixRequest, .later: false
            }
        }
        // A batch that is refused as a whole for its topic waits for the operator too.
        let reasons = refusals.union([.topicDisallowed, .badTopic]).map(\.rawValue)
        // The last stands for all words that are in no list.
        let words = reasons + [APNsFailure.credentialRefused.rawValue, "unlisted"]
        return Set(words.map { OutcomeClass(.misconfigured(reason: $0)) })
    }()

    static func reason(_ word: String) -> String {
        if APNsFailure(rawValue: word) != nil || APNsReason(rawValue: word).isKnown { return word }
        return word.isEmpty ? "none" : "other"
    }
}

/// Counts the imports and exports that this node works on.
final class JobMetrics: Sendable {
    private let factory: any MetricsFactory
    private let running = Mutex(0)

    init(factory: any MetricsFactory) {
        self.factory = factory
        Gauge(label: MetricName.jobsRunning.rawValue, factory: factory).record(0)
        // The series are there from the start, so that the first job that fails is seen as a rise.
        for state in HubJob.State.allCases where state.isFinal { ended(state).increment(by: 0) }
    }

    func note(_ event: JobEvent) {
        switch event {
        case .began: move(by: 1)
        case .paused: move(by: -1)
        case .ended(let state): ended(state).increment()
        }
    }

    private func move(by step: Int) {
        running.withLock { running in
            running += step
            Gauge(label: MetricName.jobsRunning.rawValue, factory: factory).record(running)
        }
    }

    private func ended(_ state: HubJob.State) -> Counter {
        Counter(
            label: MetricName.jobsEnded.rawValue, dimensions: [(MetricLabel.state.rawValue, state.rawValue)], factory: factory)
    }
}

/// Several observers as one.
struct HubObservers: HubObserver {
    let observers: [any HubObserver]

    func accepted(_ send: AcceptedSend) { for observer in observers { observer.accepted(send) } }

    func leased(_ weight: SliceWeight) { for observer in observers { observer.leased(weight) } }

    func released(_ weight: SliceWeight) { for observer in observers { observer.released(weight) } }

    func sending(_ batch: PushBatch, of notification: NotificationID, retries: Int, doubtful: Int) {
        for observer in observers { observer.sending(batch, of: notification, retries: retries, doubtful: doubtful) }
    }

    func sent(_ batch: PushBatch, of notification: NotificationID, outcomes: PushOutcomes) {
        for observer in observers { observer.sent(batch, of: notification, outcomes: outcomes) }
    }

    func ended(_ notification: NotificationID, in hub: HubID, state: NotificationState) {
        for observer in observers { observer.ended(notification, in: hub, state: state) }
    }
}
