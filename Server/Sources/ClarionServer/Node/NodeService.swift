import HTTPService
import Hummingbird
import Logging
import Metrics
import RichPushModel
import ServerObservability
import ServiceErrors
import ServiceLifecycle
import UnixSignals

/// One node: HTTP interface, hub, storage and the way to Apple, as `clarion serve` runs them.
public enum NodeService {
    /// Runs until the process is told to stop, and ends within `settings.shutdownDeadline` after that.
    ///
    /// `announce` gets the lines for the terminal once requests are answered.
    public static func run(_ settings: Settings, announce: @escaping @Sendable (String) -> Void = { _ in }) async throws {
        let logger = Observability.start(settings.logging)
        let metrics = Observability.startMetrics()
        if settings.apns.credential == nil {
            logger.warning("No APNs credential is set: sends are kept until their time is up and reach no device")
        }
        let node = try await ServerNode.make(settings, logger: logger)
        try await ProcessServices.run(
            [
                ClosureService {
                    let address = settings.listening.address
                    try await ListenerFault.explained(address, setting: "listen-port") {
                        try await node.run { port in
                            logger.notice("Listening", metadata: ["address": "\(address.host)", "port": "\(port)"])
                            announce("Listening on http://\(address.host):\(port)")
                        }
                    }
                }
            ] + metricsListener(settings, metrics, logger),
            deadline: settings.shutdownDeadline, logger: logger)
    }

    private static func metricsListener(
        _ settings: Settings, _ metrics: PrometheusMetrics, _ logger: Logger
    ) -> [any Service] {
        guard let address = settings.metrics else { return [] }
        let router = Router(context: BasicRequestContext.self)
        MetricsRoutes(metrics: metrics).addRoutes(to: router)
        // Its connections are not the clients' and stay out of their numbers.
        let allowance = ConnectionAllowance(limit: 64, clock: .system, logger: logger, metrics: NOOPMetricsHandler.instance)
        let listener = Application(
            router: router, server: .guarded(allowance: allowance),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port), serverName: nil),
            logger: logger)
        return [
            ClosureService { try await ListenerFault.explained(address, setting: "metrics-port") { try await listener.run() } }
        ]
    }
}
