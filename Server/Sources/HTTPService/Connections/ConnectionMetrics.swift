import Metrics

/// Counts connections, and those that were ended for a broken limit.
struct ConnectionMetrics: Sendable {
    private let gauge: Gauge
    private let refusals: Counter
    private let closings: [ConnectionProgress.Stall: Counter]

    init(factory: any MetricsFactory) {
        gauge = Gauge(label: MetricName.httpConnections.rawValue, factory: factory)
        refusals = Counter(label: MetricName.httpConnectionsRefused.rawValue, factory: factory)
        closings = Dictionary(
            uniqueKeysWithValues: ConnectionProgress.Stall.allCases.map { stall in
                let reason = (MetricLabel.reason.rawValue, stall.rawValue)
                return (stall, Counter(label: MetricName.httpConnectionsStalled.rawValue, dimensions: [reason], factory: factory))
            })
    }

    func open(_ count: Int) { gauge.record(count) }

    func refused() { refusals.increment() }

    func closed(_ stall: ConnectionProgress.Stall) { closings[stall]?.increment() }
}
