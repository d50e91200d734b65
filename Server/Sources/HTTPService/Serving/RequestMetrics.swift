import Hummingbird
import Metrics
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors

/// Counts requests under label sets that cannot grow: templates, methods, statuses and codes, all of them closed lists.
///
/// Each set is looked up once: the names of a metric and its labels are many words for each request.
struct RequestMetrics: Sendable {
    private struct Answer: Hashable {
        var template: String
        var method: String
        var status: Int
    }

    private struct Series {
        var count: Counter
        var duration: Timer
    }

    private let factory: any MetricsFactory
    private let inFlight: NIOLockedValueBox<Int> = .init(0)
    private let known: NIOLockedValueBox<[Answer: Series]> = .init([:])
    private let gauge: Gauge

    init(factory: any MetricsFactory) {
        self.factory = factory
        gauge = Gauge(label: MetricName.httpRequestsInFlight.rawValue, factory: factory)
    }

    func began() { move(by: 1) }

    func ended() { move(by: -1) }

    private func move(by step: Int) {
        inFlight.withLockedValue { count in
            count += step
            gauge.record(count)
        }
    }

    func record(_ record: RequestRecord) {
        let series = series(record)
        series.count.increment()
        series.duration.recordNanoseconds(record.duration.wholeNanoseconds)
        if let failure = record.failure {
            let code = (MetricLabel.code.rawValue, ErrorTable.entry(for: failure.error.code).metricLabel)
            Counter(label: MetricName.httpRequestErrors.rawValue, dimensions: [code], factory: factory).increment()
        }
    }

    private func series(_ record: RequestRecord) -> Series {
        let answer = Answer(
            template: record.template, method: RequestRecord.label(of: record.request.method), status: record.status.code)
        if let series = known.withLockedValue({ $0[answer] }) { return series }
        let route = (MetricLabel.route.rawValue, record.template)
        let method = (MetricLabel.method.rawValue, answer.method)
        let status = (MetricLabel.status.rawValue, String(record.status.code))
        let series = Series(
            count: Counter(
                label: MetricName.httpRequests.rawValue, dimensions: [route, method, status], factory: factory),
            duration: Timer(
                label: MetricName.httpRequestDuration.rawValue, dimensions: [route, method], factory: factory))
        known.withLockedValue { $0[answer] = series }
        return series
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 64 bits.
    fileprivate var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ attoseconds / 1_000_000_000
    }
}
