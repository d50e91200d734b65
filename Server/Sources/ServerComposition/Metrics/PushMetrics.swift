import HTTPService
import Metrics
import PushHub
import RichPushModel
import Synchronization

/// Counts what the hub does. Label values come from closed sets, so the number of series is bounded.
final class PushMetrics: HubObserver {
    private struct Levels {
        var inFlight = 0
        var inHand: [SliceWeight: Int] = [:]
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
            levels.inHand[weight, default: 0] += step
            Gauge(
                label: MetricName.slicesInHand.rawValue, dimensions: [(MetricLabel.weight.rawValue, weight.word)],
                factory: factory
            ).record(levels.inHand[weight] ?? 0)
        }
    }
}

extension SliceWeight {
    /// The weight as a label.
    var word: String { "\(self)" }
}
