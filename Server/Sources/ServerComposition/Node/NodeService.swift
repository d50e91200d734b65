import HTTPService
import Hummingbird
import Logging
import Metrics
import NIOCore
import RichPushModel
import ServerObservability
import ServerSettings
import ServiceErrors
import ServiceLifecycle
import SharedAccess
import UnixSignals

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One node: HTTP interface, hub, storage and the way to Apple, as `clarion serve` runs them.
public enum NodeService {
    /// Runs until the process is asked to stop, and ends within `settings.shutdownDeadline` after that.
    ///
    /// `announce` gets the lines for the terminal once requests are answered.
    public static func run(_ settings: Settings, announce: @escaping @Sendable (String) -> Void = { _ in }) async throws {
        let environment = ProcessInfo.processInfo.environment
        MemoryArenas.limit(environment: environment)
        let logger = Observability.start(settings.logging)
        let metrics = Observability.startMetrics()
        let manager = ServiceManager(environment: environment)
        let starting = ListenerCount(settings.listening.listenerCount)
        StartWarning.log(settings, to: logger)
        var options = NodeOptions()
        options.onListening = { listener, port in
            report(listener, port, settings, logger, announce)
            if starting.isLast() { manager?.notify(.ready, logger) }
        }
        let node = try await ServerNode.make(settings, options: options, logger: logger)
        await node.warnOfHubsWithoutCredential()
        if let path = node.developmentAuthorityPath {
            logger.notice(
                "The HTTPS interface has a certificate of a local authority, for development", metadata: ["path": "\(path)"])
            announce("Clients of https trust \(path)")
        }
        try await ProcessServices.run(
            alive(manager, node.group, logger) + [reloading(node), ClosureService { try await node.run() }]
                + metricsListener(settings, metrics, logger) + stopping(manager, logger),
            deadline: settings.shutdownDeadline, logger: logger)
    }

    /// The first to begin and the last to end, so that the watchdog does not bite while the node stops.
    private static func alive(
        _ manager: ServiceManager?, _ group: any EventLoopGroup, _ logger: Logger
    ) -> [any Service] {
        guard let manager else { return [] }
        return [
            ClosureService {
                await cancelWhenGracefulShutdown {
                    await manager.watch(group, clock: .system, logger: logger)
                }
                // Without a watchdog there is nothing to do, but the group takes an early end for a failure.
                try await gracefulShutdown()
            }
        ]
    }

    /// The last to begin, so the first that hears of the end.
    private static func stopping(_ manager: ServiceManager?, _ logger: Logger) -> [any Service] {
        guard let manager else { return [] }
        return [ClosureService(onShutdown: { manager.notify(.stopping, logger) }) { try await gracefulShutdown() }]
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
        let allowance = ConnectionAllowance(limit: 64, clock: .system, logger: logger, metrics: NOOPMetricsHandler.instance)
        let listener = Application(
            router: metricsRouter(address, metrics), server: .guarded(allowance: allowance),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port), serverName: nil),
            logger: logger)
        return [
            ClosureService { try await ListenerFault.explained(address, setting: "metrics-port") { try await listener.run() } }
        ]
    }

    /// The one route of that listener. Its requests and connections are not the clients' and stay out of their numbers.
    ///
    /// A listener for this machine answers to names of this machine only, so that a page of another site cannot read it by a name of its
    /// own; one that is open to a network is asked for by whatever name Prometheus uses.
    static func metricsRouter(_ address: Settings.Address, _ metrics: PrometheusMetrics) -> ServiceRouter {
        var options = ServiceOptions(metrics: NOOPMetricsHandler.instance)
        if AddressRange.isLoopback(host: address.host) { options.allowedHosts = [] }
        let router = ServiceRouter(options: options)
        MetricsRoutes(metrics: metrics).addRoutes(to: router)
        return router
    }
}
