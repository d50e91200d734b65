import HTTPService
import Metrics
import RichPushModel

/// Counts what the upkeep of a node removes, and when each sweep succeeded last.
package struct SweepMetrics: Sendable {
    /// The sweeps of a node: the values of the label `sweep`.
    package enum Sweep: String, CaseIterable, Sendable {
        /// Notifications, contents, bindings and keys of the app backend.
        case backend
        case devices
        /// What removed hubs hold.
        case hubs
        case jobs
        case telemetry
        /// Uploads to a bucket that were cut off.
        case uploads
    }

    let factory: any MetricsFactory

    package init(factory: any MetricsFactory) { self.factory = factory }

    /// Notes a sweep that succeeded.
    ///
    /// - Parameter removed: how many rows or files it removed; absent where a sweep does not count them.
    package func succeeded(_ sweep: Sweep, removed: Int?, at now: Timestamp) {
        let labels = [(MetricLabel.sweep.rawValue, sweep.rawValue)]
        Gauge(label: MetricName.sweepLastSuccess.rawValue, dimensions: labels, factory: factory)
            .record(Double(now.milliseconds) / 1000)
        guard let removed else { return }
        Counter(label: MetricName.sweepRemoved.rawValue, dimensions: labels, factory: factory).increment(by: removed)
    }
}
