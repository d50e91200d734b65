import HTTPService
import Logging
import Metrics
import ServerObservability

/// The log and the metrics of the process. Each is started once.
enum Observability {
    /// Sends every log record of the process to standard error and returns the logger of the node.
    static func start(_ logging: Settings.Logging) -> Logger {
        let options = LogOptions(format: logging.format, allowedKeys: Set(LogKey.allCases.map(\.rawValue)))
        LoggingSystem.bootstrap { label in LineLogHandler(label: label, level: logging.level, options: options) }
        return Logger(label: "clarion")
    }

    /// Collects every metric of the process.
    static func startMetrics() -> PrometheusMetrics {
        let metrics = PrometheusMetrics(
            help: Dictionary(uniqueKeysWithValues: MetricName.allCases.map { ($0.rawValue, $0.help) }))
        MetricsSystem.bootstrap(metrics)
        return metrics
    }
}
