import AppBackend
import BackendHTTPAPI
import HTTPService
import HubHTTPAPI
import Logging
import RichPushModel
import SQLStorage
import ServerObservability
import ServerSettings
import ServerStorage
import ServiceErrors
import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ServerNode {
    /// Listens and works until the task is cancelled or graceful shutdown is triggered; then closes storage.
    ///
    /// Shut down in this order: dispatcher and HTTP interface take nothing new, both finish what they hold, upkeep ends, the APNs
    /// client drains. `onListening` is told the port once requests are answered.
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
        let hubs = (try? await storage.hubs.hubs()) ?? []
        let names = hubs.filter { $0.sealedAPNs == nil }.map(\.name.text)
        guard !names.isEmpty else { return }
        logger.warning(
            "No APNs credential is set for the node, nor for these hubs: their sends are kept until their time is up and reach no device",
            metadata: ["hubs": "\(names.prefix(10).joined(separator: " "))", "count": "\(names.count)"])
    }

    private func services(onListening: @escaping @Sendable (Int) async -> Void) -> [ServiceGroupConfiguration
        .ServiceConfiguration]
    {
        var services: [any Service] = []
        // The first to begin and the last to end.
        if let membership { services.append(leaving(membership)) }
        if let membership { services.append(ClosureService { await cancelWhenGracefulShutdown { await membership.awaitEnd() } }) }
        if let client = delivery.client {
            services.append(ClosureService { await cancelWhenGracefulShutdown { await client.run() } })
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
        if settings.role.dispatches { services += work() }
        if let pictureToStore { services.append(Self.ending { await cancelWhenGracefulShutdown { await pictureToStore.run() } }) }
        let metrics = MetricsUpkeep(
            telemetry: storage.hubStores.telemetry, databaseLog: DatabaseLogWatch(storage.database, logger: logger),
            clients: { delivery.clients.numbers }, tokenAge: { delivery.tokens.oldestAgeInUse },
            databaseLoad: { storage.database.load },
            freeBytes: { [directory = settings.dataDirectory] in DiskSpace.free(at: directory) }, factory: options.metrics,
            clock: options.clock, logger: logger)
        services.append(ClosureService { await cancelWhenGracefulShutdown { await metrics.run() } })
        services.append(
            Self.ending {
                await cancelWhenGracefulShutdown { await storage.contents.keepCounting(storage.containers, logger: logger) }
            })
        services += listeners(onListening: onListening)
        // Told first, because the others wait for each other: a slow download must not make the dispatcher go on until the
        // deadline and then be cut off with pushes in the air.
        services.append(ClosureService(onShutdown: { dispatcher.shutDown() }) { try await gracefulShutdown() })
        return services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) }
    }

    /// What sends, and what keeps things in order.
    private func work() -> [any Service] {
        let sweeps = SweepMetrics(factory: options.metrics)
        var services: [any Service] = [
            Self.ending {
                await dispatcher.run()
                logger.info("The dispatcher has stopped")
            },
            ClosureService { await cancelWhenGracefulShutdown { await clockUpkeep().run() } },
            ClosureService { await cancelWhenGracefulShutdown { await backendUpkeep(sweeps).run() } },
        ]
        if let jobs { services.append(ClosureService { await cancelWhenGracefulShutdown { await jobs.run() } }) }
        for upkeep in upkeep() {
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

    /// A part that may be done before it is told to stop, which the group takes for a failure.
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

    /// All routes of the node on one router; of a worker those that tell whether it is well.
    func router() -> ServiceRouter {
        let router = ServiceRouter(options: serviceOptions())
        HealthRoutes(checks: readiness.checks).addRoutes(to: router)
        guard settings.role.answers else {
            router.add(WorkerRoutes())
            return router
        }
        let proxies = settings.listening.trustedProxies
        let warning = ProxyWarning(logger: logger)
        let backendOptions = BackendHTTPOptions(
            clock: options.clock, requestLimit: settings.listening.requestLimit,
            isTrustedProxy: { address in proxies.contains { $0.contains(address) } },
            onUntrustedForwarding: { warning.forwarded(by: $0) })
        BackendRoutes(backend: backend, options: backendOptions).addRoutes(to: router)
        ErrorReferenceRoute().addRoutes(to: router)
        OutcomeReferenceRoute().addRoutes(to: router)
        options.addRoutes(router)
        router.add(HubRoutes(directory: hubs, options: hubOptions()))
        return router
    }

    private func hubOptions() -> HubHTTPOptions {
        let publicHost = settings.listening.publicURL.flatMap { URLComponents(string: $0)?.host }
        var hub = HubHTTPOptions(
            clock: options.clock, limits: settings.hubBounds.ofRequests, publicHosts: [publicHost].compactMap(\.self),
            origin: linkOrigin,
            protectedTagPrefixes: settings.notifications.protectedTagPrefixes,
            sendsPerSecond: settings.notifications.hubSendsPerSecond, writesPerSecond: settings.notifications.hubWritesPerSecond,
            transport: delivery.transport,
            files: jobs.map { HubFiles(jobs: $0, signer: storage.signer, fileLimit: settings.hubBounds.jobFileBytes) })
        hub.startPage = StartPage(links: options.links).response
        return hub
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
        service.requiresTLS = settings.listening.tls?.files != nil
        // A page of another site could point a name of its own at this machine; only names of this machine get an answer.
        let names = settings.listening.tls?.names ?? []
        if isForThisMachineAlone { service.allowedHosts = Set(names.map { $0.lowercased() }) }
        return service
    }
}
