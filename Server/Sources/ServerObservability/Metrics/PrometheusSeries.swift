import CoreMetrics
import NIOConcurrencyHelpers

/// A number that only grows.
final class CounterSeries: CounterHandler, FloatingPointCounterHandler {
    private let total = NIOLockedValueBox<Double>(0)

    var value: Double { total.withLockedValue { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    func increment(by amount: Double) {
        guard amount > 0 else { return }
        total.withLockedValue { $0 += amount }
    }

    func reset() { total.withLockedValue { $0 = 0 } }
}

/// A number that goes up and down.
final class GaugeSeries: RecorderHandler, MeterHandler {
    private let current = NIOLockedValueBox<Double>(0)

    var value: Double { current.withLockedValue { $0 } }

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { current.withLockedValue { $0 = value } }
    func increment(by amount: Double) { current.withLockedValue { $0 += amount } }
    func decrement(by amount: Double) { current.withLockedValue { $0 -= amount } }
}

/// A distribution over fixed buckets.
final class HistogramSeries: RecorderHandler, TimerHandler {
    /// What a histogram has counted so far.
    struct Snapshot {
        /// How many values lie in each bucket and, last, above them all; not cumulated.
        var counts: [Int]
        var sum: Double
    }

    /// The upper bounds of the buckets.
    let bounds: [Double]
    private let state: NIOLockedValueBox<Snapshot>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = NIOLockedValueBox(Snapshot(counts: Array(repeating: 0, count: bounds.count + 1), sum: 0))
    }

    var snapshot: Snapshot { state.withLockedValue { $0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLockedValue { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    /// Timers are shown in seconds, the base unit of Prometheus.
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
}
