import HTTPService
import Logging
import Metrics
import ServerObservability
import ServerSettings

/// The log and the metrics of the process. Each is started once.
package enum Observability {
    /// Sends every log record of the process to standard error and returns the logger of the node.
    package static func start(_ logging: Settings.Logging) -> Logger {
        let options = LogOptions(
            format: logging.format == .json ? .json : .text, allowedKeys: Set(LogKey.allCases.map(\.rawValue)))
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
