import AppBackend
import HTTPService
import Metrics
import PushHub
import RichPushModel
import ServerDelivery
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
    private let latency: [PushService: Timer]
    private let levels = Mutex(Levels())

    /// Counts in `factory`. The wall clock of `clock` says how long a push was under way.
    init(factory: any MetricsFactory, clock: any ServiceClock = .system) {
        self.factory = factory
        self.clock = clock
        let timers = PushService.allCases.map { service in
            let labels = [(MetricLabel.service.rawValue, service.rawValue)]
            return (service, Timer(label: MetricName.pushLatency.rawValue, dimensions: labels, factory: factory))
        }
        latency = Dictionary(uniqueKeysWithValues: timers)
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
        let service = PushService(batch.platform)
        if let dueAt = batch.dueAt { measure(dueAt, outcomes, of: service) }
        if let common = outcomes.common { return counter(of: OutcomeClass(common, of: service)).increment(by: outcomes.count) }
        // A batch has up to a thousand outcomes of a few kinds: counted here first, so that each kind is one series looked up.
        var counts: [OutcomeClass: Int] = [:]
        var accepted = 0
        for outcome in outcomes {
            if case .accepted = outcome { accepted += 1 } else { counts[OutcomeClass(outcome, of: service), default: 0] += 1 }
        }
        if accepted > 0 { counts[OutcomeClass(.accepted, of: service)] = accepted }
        for (kind, count) in counts { counter(of: kind).increment(by: count) }
    }

    /// Each accepted push counts once, as long as its send was due.
    private func measure(_ dueAt: Timestamp, _ outcomes: PushOutcomes, of service: PushService) {
        let accepted = outcomes.count { if case .accepted = $0 { true } else { false } }
        guard accepted > 0, let latency = latency[service] else { return }
        let duration = max(.zero, clock.now - dueAt)
        for _ in 0..<accepted { latency.record(duration: duration) }
    }

    private func counter(of kind: OutcomeClass) -> Counter {
        levels.withLock { levels in
            if let known = levels.outcomes[kind] { return known }
            let counter = counter(
                .pushOutcomes, [(.service, kind.service.rawValue), (.result, kind.result), (.reason, kind.reason)])
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

/// An outcome as labels. Reasons are those that are in a list of the push service; all others are one.
struct OutcomeClass: Hashable {
    let service: PushService
    let result: String
    let reason: String

    private init(_ service: PushService, _ result: String, _ reason: String) {
        (self.service, self.result, self.reason) = (service, result, reason)
    }

    init(_ outcome: PushOutcome, of service: PushService) {
        switch outcome {
        case .accepted: self.init(service, "accepted", "none")
        case .gone: self.init(service, "gone", "none")
        case .badToken: self.init(service, "bad_token", "none")
        case .rejected(let reason): self.init(service, "rejected", service.word(for: reason))
        case .tooLarge: self.init(service, "too_large", "none")
        case .retry(_, let reason): self.init(service, "retry", service.word(for: reason))
        case .notSent(let reason), .delayed(_, let reason), .unavailable(let reason, _):
            self.init(service, "not_sent", service.word(for: reason))
        case .unknown(let reason): self.init(service, "unknown", service.word(for: reason))
        case .misconfigured(let reason): self.init(service, "misconfigured", service.word(for: reason))
        case .unsupported: self.init(service, "unsupported", "none")
        }
    }

    /// Every class in which a wrong credential or topic can show, of every push service: a hub may bring a credential at any time.
    static let misconfigured = Set(
        PushService.allCases.flatMap { service in
            service.misconfigurations.map { OutcomeClass(service, "misconfigured", $0) }
        })
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
