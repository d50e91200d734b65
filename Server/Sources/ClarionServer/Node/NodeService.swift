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
        var options = NodeOptions()
        options.onListening = { listener, port in report(listener, port, settings, logger, announce) }
        let node = try await ServerNode.make(settings, options: options, logger: logger)
        if let path = node.developmentAuthorityPath {
            logger.notice(
                "The HTTPS interface has a certificate of a local authority, for development", metadata: ["path": "\(path)"])
            announce("Clients of https trust \(path)")
        }
        try await ProcessServices.run(
            [reloading(node), ClosureService { try await node.run() }] + metricsListener(settings, metrics, logger),
            deadline: settings.shutdownDeadline, logger: logger)
    }

    /// SIGHUP reads the certificate again.
    private static func reloading(_ node: ServerNode) -> any Service {
        ClosureService {
            await cancelWhenGracefulShutdown {
                for await _ in await UnixSignalsSequence(trapping: .sighup) { node.reloadCertificate() }
            }
            // Cancelled by the shutdown, or the stream of signals ended; the group takes an early end for a failure.
            try await gracefulShutdown()
        }
    }

    private static func report(
        _ listener: NodeListener, _ port: Int, _ settings: Settings, _ logger: Logger, _ announce: @Sendable (String) -> Void
    ) {
        let address: Settings.Address? =
            switch listener {
            case .plain, .priorKnowledge: settings.listening.address
            case .tls: settings.listening.tls?.address
            }
        guard let host = address?.host else { return }
        logger.notice("Listening", metadata: ["address": "\(host)", "port": "\(port)", "component": "\(listener.rawValue)"])
        let scheme = listener == .tls ? "https" : "http"
        announce("Listening on \(scheme)://\(host):\(port)\(listener == .priorKnowledge ? " (HTTP/2 by prior knowledge)" : "")")
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
