import Foundation
import HTTPService
import Logging
import Metrics
import ServerObservability
import ServerSettings
import ServiceErrors
import ServiceLifecycle
import UnixSignals

/// Runs services until SIGTERM or SIGINT, or until one of them ends.
package enum ProcessServices {
    /// The services stop in the reverse of their order. After `deadline` what still runs is cancelled.
    package static func run(_ services: [any Service], deadline: Duration, logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = deadline + .seconds(2)
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch is CancellationError {
            throw ServiceError(
                .notReady,
                "not every part ended before the deadline; another node, or this one after a restart, retries what was in progress"
            )
        }
    }
}

/// A part of the node that runs until shutdown.
package struct ClosureService: Service {
    private let body: @Sendable () async throws -> Void
    private let onShutdown: @Sendable () -> Void

    /// `onShutdown` is called once when graceful shutdown begins; the body has to end soon after that.
    package init(onShutdown: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () async throws -> Void) {
        self.body = body
        self.onShutdown = onShutdown
    }

    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await body()
        } onGracefulShutdown: {
            onShutdown()
        }
    }
}

/// The log and the metrics of the process. Each is started once.
package enum Observability {
    /// Sends every log record of the process to standard error and returns the logger of the node.
    package static func start(_ logging: Settings.Logging) -> Logger {
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

/// The pools from which the C library gives memory to threads.
enum MemoryArenas {
    /// Lets glibc make as many arenas as threads can run at a time, instead of eight for each core.
    ///
    /// Each arena keeps what was freed in it, so that with many of them a node grows for hours. What `MALLOC_ARENA_MAX` and
    /// `GLIBC_TUNABLES` say in the environment stays in force (https://man7.org/linux/man-pages/man3/mallopt.3.html).
    static func limit(environment: [String: String]) {
        #if canImport(Glibc)
            guard environment["MALLOC_ARENA_MAX"] == nil, environment["GLIBC_TUNABLES"] == nil else { return }
            // The header with this function is not a part of the module `Glibc`.
            guard let symbol = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
            let arenaMaximum: CInt = -8
            _ = mallopt(arenaMaximum, CInt(max(2, ProcessInfo.processInfo.activeProcessorCount)))
        #endif
    }
}
