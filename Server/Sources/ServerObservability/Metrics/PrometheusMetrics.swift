import CoreMetrics
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers

/// Keeps all metrics of the process and writes them as Prometheus text (exposition format 0.0.4).
///
/// The number of series per metric is bounded: what comes beyond is counted in one more series whose labels all say `other`, so
/// that a label with too many values costs accuracy and not memory.
public final class PrometheusMetrics: MetricsFactory {
    /// The most series of one metric, besides the one for the rest.
    public static let defaultSeriesLimit = 500

    private let state = NIOLockedValueBox<[String: PrometheusFamily]>([:])
    private let help: [String: String]
    private let seriesLimit: Int

    /// Buckets for durations in seconds.
    static let secondBuckets: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
    /// Buckets for sizes and counts.
    static let amountBuckets: [Double] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

    /// Creates an empty registry; `help` explains metrics by name.
    public init(help: [String: String] = [:], seriesLimit: Int = defaultSeriesLimit) {
        self.help = help
        self.seriesLimit = seriesLimit
    }

    /// The text of `/metrics`, sorted by name and labels.
    public func render() -> String {
        let families = state.withLockedValue { $0 }
        return families.sorted { $0.key < $1.key }.map { $0.value.text(name: $0.key, help: help[$0.key]) }.joined()
    }

    private func series<Series>(
        _ label: String, _ dimensions: [(String, String)], kind: PrometheusFamily.Kind, as type: Series.Type,
        otherwise make: () -> Series
    ) -> Series {
        let name = PrometheusText.name(label)
        let labels = PrometheusLabels(dimensions)
        return state.withLockedValue { families in
            let found = families[name, default: PrometheusFamily(kind: kind)].series(labels, kind: kind, limit: seriesLimit)
            // A name that was first used for another kind of metric: count it, but do not show it under a wrong type.
            return found as? Series ?? make()
        }
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, kind: .counter, as: CounterSeries.self) { CounterSeries() }
    }

    public func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        series(label, dimensions, kind: .counter, as: CounterSeries.self) { CounterSeries() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, kind: .gauge, as: GaugeSeries.self) { GaugeSeries() }
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return series(label, dimensions, kind: .gauge, as: GaugeSeries.self) { GaugeSeries() } }
        return series(label, dimensions, kind: .histogram(Self.amountBuckets), as: HistogramSeries.self) {
            HistogramSeries(bounds: Self.amountBuckets)
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, kind: .histogram(Self.secondBuckets), as: HistogramSeries.self) {
            HistogramSeries(bounds: Self.secondBuckets)
        }
    }

    // Series live as long as the process: a counter that vanishes and comes back at zero would look like a restart.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
}

/// `/metrics` as Prometheus text. It belongs on a listener of its own, which the outside cannot reach.
public struct MetricsRoutes: Sendable {
    private let metrics: PrometheusMetrics

    public init(metrics: PrometheusMetrics) { self.metrics = metrics }

    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: metrics.render())))
        }
    }
}
