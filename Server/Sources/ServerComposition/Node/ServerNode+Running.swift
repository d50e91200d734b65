import AppBackend
import BackendHTTPAPI
import HTTPService
import HubHTTPAPI
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushHub
import RichPushModel
import SQLStorage
import ServerObservability
import ServerSettings
import ServerStorage
import ServiceErrors
import ServiceLifecycle
import SharedAccess
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ServerNode {
    /// Listens and works until the task is cancelled or graceful shutdown is triggered; then closes storage.
    ///
    /// Shut down in this order: dispatcher and HTTP interface take nothing new, both finish what they hold, upkeep ends, the APNs
    /// client drains. `onListening` is called with the port once requests are answered.
    public func run(onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }) async throws {
        var configuration = ServiceGroupConfiguration(services: services(onListening: onListening), logger: logger)
        configuration.maximumGracefulShutdownDuration = settings.shutdownDeadline
        do {
            // Once more: to put the node together may have taken longer than the others believe in it.
            try await membership?.enter()
            try await ServiceGroup(configuration: configuration).run()
            await storage.close()
            try membership?.checkUpToDate()
        } catch {
            // Closed already, unless the services never ran.
            try? await remoteHub?.shutDown()
            await storage.close()
            throw error
        }
    }

    /// Names the hubs whose sends reach no device of Apple's, at most 10, because neither they nor the node have a credential.
    func warnOfHubsWithoutCredential() async {
        guard settings.apns.credential == nil, settings.role.dispatches else { return }
        var names: [String] = []
        var last: HubName?
        while let page = try? await storage.hubs.hubs(after: last), let end = page.last {
            names += page.filter { $0.sealedCredentials[.apns] == nil }.map(\.name.text)
            last = end.name
        }
        guard !names.isEmpty else { return }
        logger.warning(
            "\(Self.credentialWarning(settings))",
            metadata: ["hubs": "\(names.prefix(10).joined(separator: " "))", "count": "\(names.count)"])
    }

    /// What it says of these hubs, and whom the node pushes to all the same.
    static func credentialWarning(_ settings: Settings) -> String {
        let others = settings.pushedPlatforms.joined(separator: " and ")
        return "No APNs credential is set for the node, nor for these hubs: their sends reach no device of Apple's, "
            + "and the pushes for these are kept until their time is up"
            + (others.isEmpty ? "" : "; the node pushes to \(others)")
    }

    private func services(onListening: @escaping @Sendable (Int) async -> Void) -> [ServiceGroupConfiguration
        .ServiceConfiguration]
    {
        var services: [any Service] = []
        // The first to begin and the last to end.
        if let membership { services.append(leaving(membership)) }
        if let membership { services.append(ClosureService { await cancelWhenGracefulShutdown { await membership.awaitEnd() } }) }
        if let client = delivery.client {
            let limit = delivery.closeTime
            services.append(ClosureService { await cancelWhenGracefulShutdown { await client.run(drainingWithin: limit) } })
        }
        if let remoteHub {
            // Ends after everything that asks it, since services end in reverse order.
            services.append(
                ClosureService {
                    try? await gracefulShutdown()
                    try await remoteHub.shutDown()
                })
        }
        services.append(ClosureService { await cancelWhenGracefulShutdown { await delivery.transport.run() } })
        for tokens in [tokens, provider?.tokens].compactMap(\.self) {
            services.append(Self.ending { await cancelWhenGracefulShutdown { await tokens.run() } })
        }
        if settings.role.dispatches { services += work() }
        if let pictureToStore { services.append(Self.ending { await cancelWhenGracefulShutdown { await pictureToStore.run() } }) }
        let metrics = MetricsUpkeep(
            telemetry: storage.hubStores.telemetry, databaseLog: DatabaseLogWatch(storage.database, logger: logger),
            clients: { delivery.clients.numbers }, tokenAge: { delivery.tokens.oldestAgeInUse }, fcm: delivery.fcm,
            databaseLoad: { storage.database.load },
            freeBytes: { [directory = settings.dataDirectory] in DiskSpace.free(at: directory) }, factory: options.metrics,
            clock: options.clock, logger: logger)
        services.append(ClosureService { await cancelWhenGracefulShutdown { await metrics.run() } })
        services.append(
            Self.ending {
                await cancelWhenGracefulShutdown { await storage.contents.keepCounting(storage.containers, logger: logger) }
            })
        services += listeners(onListening: onListening)
        // Stopped first, because the others wait for each other: otherwise a slow download could keep the dispatcher running until
        // the deadline, which would cancel it with pushes in flight.
        services.append(ClosureService(onShutdown: { dispatcher.shutDown() }) { try await gracefulShutdown() })
        return services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) }
    }

    /// What sends, and what keeps things in order.
    private func work() -> [any Service] {
        let (sweeps, upkeep) = (SweepMetrics(factory: options.metrics), upkeep())
        sweeps.began([.backend] + upkeep.map(\.name), at: options.clock.now)
        var services: [any Service] = [
            Self.ending {
                await dispatcher.run()
                logger.info("The dispatcher has stopped")
            },
            ClosureService { await cancelWhenGracefulShutdown { await clockUpkeep().run() } },
            ClosureService { await cancelWhenGracefulShutdown { await backendUpkeep(sweeps).run() } },
            ClosureService { await cancelWhenGracefulShutdown { await auditKeeper().run() } },
            webhookService(),
        ]
        if let jobs { services.append(ClosureService { await cancelWhenGracefulShutdown { await jobs.run() } }) }
        for upkeep in upkeep {
            services.append(ClosureService { await cancelWhenGracefulShutdown { await upkeep.run(metrics: sweeps) } })
        }
        return services
    }

    private func clockUpkeep() -> ClockUpkeep {
        let lease = Self.dispatchSettings(settings, options, storage.identity).leaseDuration
        let repair = SQLWaitRepair(storage.database, lease: lease)
        return ClockUpkeep(clock: options.clock, factory: options.metrics, logger: logger) { try await repair.run(at: $0) }
    }

    private func backendUpkeep(_ sweeps: SweepMetrics) -> BackendUpkeep {
        let clock = options.clock
        return BackendUpkeep(of: backend) { sweeps.succeeded(.backend, removed: $0, at: clock.now) }
    }

    /// Ends the requests to webhooks that are under way before it ends.
    private func webhookService() -> any Service {
        let dispatcher = WebhookDispatcher(
            of: backend, owner: storage.identity?.name ?? "node", transport: webhookClient,
            observer: WebhookMetrics(factory: options.metrics))
        return ClosureService(onShutdown: { dispatcher.shutDown() }) { [webhookClient] in
            webhookClient.start()
            await dispatcher.run()
            webhookClient.shutDown()
            try await gracefulShutdown()
        }
    }

    private func auditKeeper() -> AuditKeeper {
        AuditKeeper(
            store: storage.backendStore, key: storage.auditKey, retention: settings.backend.retention.audit, clock: options.clock,
            logger: logger)
    }

    /// A part that may finish before shutdown, which the group would take for a failure.
    private static func ending(_ body: @escaping @Sendable () async -> Void) -> any Service {
        ClosureService {
            await body()
            try await gracefulShutdown()
        }
    }

    private func leaving(_ membership: NodeMembership) -> any Service {
        ClosureService {
            await cancelWhenGracefulShutdown { await membership.run() }
            await membership.leave()
        }
    }

    private func upkeep() -> [Upkeep] {
        let (clock, stores) = (options.clock, storage.hubStores)
        var all: [Upkeep] = [
            .telemetry(stores.telemetry, clock: clock, logger: logger), .devices(stores.devices, clock: clock, logger: logger),
            .hubs(storage.hubs, clock: clock, logger: logger),
        ]
        if let jobs { all.append(.jobs(storage.jobStore, jobs.files, clock: clock, logger: logger)) }
        if let leftovers = storage.contents.upkeep(logger: logger) { all.append(leftovers) }
        return all
    }

    /// All routes of the node on one router; of a worker only the health routes.
    func router() -> ServiceRouter {
        let router = ServiceRouter(options: serviceOptions())
        HealthRoutes(checks: readiness.checks, notes: notes).addRoutes(to: router)
        guard settings.role.answers else {
            router.add(WorkerRoutes())
            return router
        }
        let proxies = settings.listening.trustedProxies
        let warning = ProxyWarning(logger: logger)
        let backendOptions = BackendHTTPOptions(
            version: ClarionVersion.current, clock: options.clock, requestLimit: settings.listening.requestLimit,
            cookie: SessionCookie(isSecure: settings.listening.isReachedOverTLS),
            isTrustedProxy: { address in proxies.contains { $0.contains(address) } },
            onUntrustedForwarding: { warning.forwarded(by: $0) })
        let api = BackendRoutes(backend: backend, options: backendOptions)
        api.addRoutes(to: router)
        ErrorReferenceRoute().addRoutes(to: router)
        OutcomeReferenceRoute().addRoutes(to: router)
        APIReferenceRoute().addRoutes(to: router)
        if !settings.console.isOff { ConsoleRoutes(on: api, path: settings.console.path).addRoutes(to: router) }
        options.addRoutes(router, backend)
        router.add(HubRoutes(directory: hubs, options: hubOptions(with: backendOptions)))
        return router
    }

    /// - Parameter callers: knows where requests came from.
    private func hubOptions(with callers: BackendHTTPOptions) -> HubHTTPOptions {
        let publicHost = settings.listening.publicURL.flatMap { URLComponents(string: $0)?.host }
        var hub = HubHTTPOptions(
            clock: options.clock, limits: settings.hubBounds.ofRequests, publicHosts: [publicHost].compactMap(\.self),
            origin: linkOrigin,
            protectedTagPrefixes: settings.notifications.protectedTagPrefixes,
            sendsPerSecond: settings.notifications.hubSendsPerSecond, writesPerSecond: settings.notifications.hubWritesPerSecond,
            transport: delivery.transport,
            files: jobs.map { HubFiles(jobs: $0, signer: storage.signer, fileLimit: settings.hubBounds.jobFileBytes) })
        hub.network = { callers.source(of: $0, context: $1).prefix }
        hub.onRefusal = { [backend] refusal, request, context in
            await backend.noteHubRefusal(
                of: "\(refusal.operation)", on: refusal.hub, toRule: refusal.rule, ofHub: refusal.keyHub,
                from: callers.source(of: request, context: context))
        }
        let console = settings.console.isOff ? [] : [StartPage.Link(path: settings.console.path, title: "The console")]
        hub.startPage = StartPage(links: options.links + console).response
        return hub
    }

    /// What `/readyz` says beside the checks.
    private func notes() -> [String] {
        (tokens?.notes("token-issuers") ?? []) + (provider?.tokens.notes("console-provider") ?? [])
    }

    private var linkOrigin: LinkOrigin {
        LinkOrigin(publicURL: settings.listening.publicURL, isBehindTLSProxy: settings.listening.isBehindTLSProxy)
    }

    private var isForThisMachineAlone: Bool {
        AddressRange.isLoopback(host: settings.listening.address.host) && settings.listening.publicURL == nil
            && !settings.listening.isBehindTLSProxy
            && settings.listening.tls.map { AddressRange.isLoopback(host: $0.address.host) } ?? true
    }

    private func serviceOptions() -> ServiceOptions {
        var service = ServiceOptions(clock: options.clock, metrics: options.metrics)
        // Every route has its own limit below this one: contents, and the files of imports.
        let largestFile = Int(clamping: settings.hubBounds.jobFileBytes) + 1 << 20
        service.maximumBodyBytes = max(BackendHTTPOptions.bodyLimit(contentLimit: settings.contentLimit), largestFile, 128 << 20)
        service.webOrigins = WebOrigins(settings.webPush.origins, below: BackendRoutes.prefixes)
        service.requiresTLS = settings.listening.tls?.files != nil
        // A page of another site could point a name of its own at this machine; only names of this machine get an answer.
        let names = settings.listening.tls?.names ?? []
        if isForThisMachineAlone { service.allowedHosts = Set(names.map { $0.lowercased() }) }
        return service
    }
}

extension ServerNode {
    /// Every listener that the settings ask for, with one router and one count of connections.
    func listeners(onListening: @escaping @Sendable (Int) async -> Void) -> [any Service] {
        let responder = router().buildResponder()
        let allowance = ConnectionAllowance(
            limit: FileDescriptors.connectionLimit(settings.listening.connectionLimit, logger: logger), clock: options.clock,
            logger: logger, metrics: options.metrics)
        let address = settings.listening.address
        let observer = options.onListening
        var listeners = [
            listener(responder, .guarded(allowance: allowance), address, "listen-port") { port in
                await onListening(port)
                await observer(.plain, port)
            }
        ]
        if let tls = settings.listening.tls, let serverCertificate {
            listeners.append(
                listener(responder, .guardedTLS(serverCertificate.identity, allowance: allowance), tls.address, "tls-listen-port")
                {
                    await observer(.tls, $0)
                })
            listeners.append(ClosureService { await cancelWhenGracefulShutdown { await serverCertificate.run() } })
        }
        if let port = settings.listening.priorKnowledgePort {
            let address = Settings.Address(host: address.host, port: port)
            listeners.append(
                listener(responder, .guardedHTTP2(allowance: allowance), address, "prior-knowledge-port") {
                    await observer(.priorKnowledge, $0)
                })
        }
        return listeners
    }

    private func listener(
        _ responder: ServiceResponder, _ server: HTTPServerBuilder, _ address: Settings.Address, _ setting: String,
        onListening: @escaping @Sendable (Int) async -> Void
    ) -> any Service {
        let application = Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil,
                backlog: ListenBacklog.length(settings.listening.backlog)),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(group), logger: logger)
        return ClosureService {
            try await ListenerFault.explained(address, setting: setting) { try await application.run() }
        }
    }

    /// Reads the certificate of the HTTPS interface again.
    public func reloadCertificate() { serverCertificate?.reload() }

    /// What clients of the HTTPS interface have to trust, when its certificate is of the node's own development authority.
    public var developmentAuthorityPath: String? { serverCertificate?.authorityPath }
}

/// How many connections a listening socket holds that the server has not accepted yet.
enum ListenBacklog {
    /// The most that is taken without a setting.
    static let most = 4_096

    /// The length for what the settings say; without a setting what the system allows.
    static func length(_ wanted: Int?, system: Int? = system()) -> Int { wanted ?? min(most, max(128, system ?? most)) }

    /// What Linux allows (`net.core.somaxconn`); `nil` elsewhere, where the system cuts a longer backlog by itself.
    static func system() -> Int? {
        FileManager.default.contents(atPath: "/proc/sys/net/core/somaxconn")
            .flatMap { Int(String(decoding: $0.filter { $0 > 0x20 }, as: UTF8.self)) }
    }
}

/// Says once in the life of a node that a proxy which is not trusted forwards requests: all callers behind it count as one network.
final class ProxyWarning: Sendable {
    private let logger: Logger
    private let isSaid = Mutex(false)

    init(logger: Logger) { self.logger = logger }

    /// An untrusted peer sent forwarding headers.
    func forwarded(by peer: String) {
        let isFirst = isSaid.withLock { isSaid in
            defer { isSaid = true }
            return !isSaid
        }
        guard isFirst else { return }
        logger.warning(
            "Requests come through a proxy that is not in trusted-proxies: its callers count as one network when sign-ins fail",
            metadata: ["remote": "\(peer)"])
    }
}
