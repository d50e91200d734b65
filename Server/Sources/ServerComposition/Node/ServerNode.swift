import AppBackend
import HubHTTPAPI
import Logging
import Metrics
import NIOCore
import NIOPosix
import PushHub
import RemoteHub
import RichPushModel
import ServerDelivery
import ServerSettings
import ServerStorage
import ServiceErrors
import ServiceLifecycle
import SharedAccess
import TrustedIssuers

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One composed node: storage, hub, dispatcher, app backend and HTTP interface. The only place where adapters meet.
public struct ServerNode: Sendable {
    /// The hub, for what is composed beside the node.
    public let hub: NotificationHub
    /// The app backend, for what is composed beside the node.
    public let backend: RichPushBackend
    /// Verifies tokens of issuers, on a node that answers requests; `nil` without issuers in the settings.
    let tokens: TokenVerifier?
    /// Where people sign in to the console; `nil` without a provider in the settings.
    let provider: ProviderSignIn?

    let settings: Settings
    let options: NodeOptions
    let storage: NodeStorage
    /// Every hub of the node, with its keys.
    let hubs: HubDirectory
    /// Imports and exports of registrations.
    let jobs: HubJobs?
    /// The hub that the app backend sends through, when it is another than this node's.
    let remoteHub: RemoteHub?
    let delivery: NodeDelivery
    /// The certificate of the HTTPS interface; absent without one.
    let serverCertificate: ServerCertificate?
    let dispatcher: Dispatcher
    let webhookClient: WebhookClient
    /// What the node does because there may be others; absent when there can be none.
    let membership: NodeMembership?
    /// The default picture, when the content store was away at the start.
    let pictureToStore: DefaultPictureKeeper?
    /// Whether the node can do its work.
    let readiness: NodeReadiness
    let group: any EventLoopGroup
    let logger: Logger

    /// Opens storage, announces this node to the others and assembles the parts; nothing listens or sends yet.
    ///
    /// Throws `ServiceError` with a sentence for the operator.
    public static func make(
        _ settings: Settings, options: NodeOptions = NodeOptions(),
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        logger: Logger
    ) async throws -> ServerNode {
        let storage = try await NodeStorage.open(
            settings, access: .server, clock: options.clock, metrics: options.metrics)
        let signal = DispatchSignal()
        let membership = storage.membership(signal: signal, metrics: options.metrics, logger: logger)
        do {
            // Early, because a node that changes the schema waits for the nodes that it sees.
            try await membership?.enter()
            return try await ServerNode(settings, options, storage, membership, signal, group, logger)
        } catch {
            await membership?.leave()
            await storage.close()
            throw error
        }
    }

    private init(
        _ settings: Settings, _ options: NodeOptions, _ storage: NodeStorage, _ membership: NodeMembership?,
        _ signal: DispatchSignal, _ group: any EventLoopGroup, _ logger: Logger
    ) async throws {
        var options = options
        options.clock = storage.clock
        let clock = options.clock
        self.settings = settings
        self.options = options
        self.storage = storage
        self.membership = membership
        self.group = group
        self.logger = logger
        try await DatabaseSafety.require(storage.database, settings, logger: logger)
        try await storage.contents.prepare(logger: logger)
        readiness = NodeReadiness(storage, clock: options.clock, logger: logger)
        await readiness.lookAtStart(storage)
        let catalog = HubCatalog(store: storage.hubStore, box: storage.box, clock: options.clock)
        serverCertificate = try settings.listening.tls.map { tls in
            try ServerCertificate(settings, tls, clock: options.clock, logger: logger)
        }
        webhookClient = try WebhookClient(
            allowing: settings.webhooks.rule, trustRootsPath: settings.webhooks.trustRootsPath, clock: clock, group: group)
        delivery = try NodeDelivery(
            settings, catalog: catalog, clock: clock, group: group, observer: options.clientObserver, logger: logger)
        let observer = HubObservers(
            observers: [PushMetrics(factory: options.metrics, clock: clock)] + [options.hubObserver].compactMap(\.self))
        let stores = storage.hubStores
        // Each request makes its hub, so what all have in common is worked out once.
        let shared = Self.hubSettings(settings, aloneSince: settings.database == nil ? clock.now : nil)
        let makeHub: @Sendable (HubID, Duration?) -> NotificationHub = { id, lifetime in
            var settings = shared
            settings.registrationTTL = lifetime
            return NotificationHub(
                id: id, stores: stores, clock: clock, settings: settings, signal: signal, observer: observer, logger: logger)
        }
        hub = makeHub(storage.hub, nil)
        let makeServed: @Sendable (HubRecord) -> NotificationHub = { makeHub($0.id, $0.details.registrationLifetime) }
        hubs = HubDirectory(catalog: catalog, registry: storage.hubs) { makeServed($0.record) }
        let dispatch = Self.dispatchSettings(settings, options, storage.identity)
        jobs = Self.jobs(storage, dispatch, clock, options.metrics, logger, makeServed)
        dispatcher = Dispatcher(
            queue: storage.sliceQueue, transport: delivery.transport, clock: options.clock,
            settings: dispatch, signal: signal, observer: observer, logger: logger)
        remoteHub = try Self.remoteHub(settings, options, group, logger)
        let own = remoteHub == nil ? storage.hub : nil
        let environments = own.map { Self.pushEnvironments(settings, of: $0, catalog) }
        do {
            tokens = try await Self.tokens(settings, storage, options.clock, group, logger)
            provider = try await Self.provider(settings, storage, options.clock, group, logger)
            let managed = ManagedHubs(registry: storage.hubs, catalog: catalog, transport: delivery.transport, own: own)
            backend = try await Self.backend(
                settings, options, storage, remoteHub ?? hub, managed, delivery, environments, tokens, provider, logger)
            let picture = try DefaultPictureKeeper(settings, backend: backend, clock: clock, logger: logger)
            pictureToStore = try await picture.store() ? nil : picture
        } catch {
            try? await remoteHub?.shutDown()
            throw error
        }
    }
}

/// How settings become parts.
extension ServerNode {
    static func dispatchSettings(
        _ settings: Settings, _ options: NodeOptions, _ identity: NodeIdentity?
    ) -> DispatchSettings {
        var dispatch = DispatchSettings()
        if let identity {
            dispatch.takeover = identity.isLasting ? .own : .none
            dispatch.owner = identity.name
        }
        if let interval = options.pollInterval { dispatch.pollInterval = interval }
        dispatch.pushDeadline = settings.pushDeadline + HubTransports.credentialTimeout
        // A node sends only while its lease outlasts the deadline of a push, so a lease has to hold for more than two. Others wait
        // for its end when a node is gone, so not for much longer.
        dispatch.leaseDuration = settings.pushDeadline * 2 + .seconds(20)
        dispatch.retryHorizon = settings.hubBounds.retryHorizon
        dispatch.retries = RetryTable(unknownTries: settings.hubBounds.unknownTries)
        // Less than the whole, so that the connections to Apple can still end in order.
        dispatch.drainDeadline = settings.shutdownDeadline * 4 / 5
        return dispatch
    }

    /// What all hubs of this node have in common.
    static func hubSettings(_ settings: Settings, aloneSince: Timestamp? = nil) -> NotificationHub.Settings {
        var result = NotificationHub.Settings()
        result.aloneSince = aloneSince
        result.scheduleHorizon = settings.hubBounds.scheduleHorizon
        result.limits = settings.hubBounds.ofHub
        result.limits.browsers = settings.webPush.rule
        return result
    }

    /// Imports and exports; `nil` where their files are not open.
    static func jobs(
        _ storage: NodeStorage, _ dispatch: DispatchSettings, _ clock: any ServiceClock, _ metrics: any MetricsFactory,
        _ logger: Logger,
        _ makeHub: @escaping @Sendable (HubRecord) -> NotificationHub
    ) -> HubJobs? {
        guard let containers = storage.containers else { return nil }
        let hubs = storage.hubStore
        var settings = HubJobs.Settings()
        settings.owner = dispatch.owner
        settings.takeover = dispatch.takeover
        let counted = JobMetrics(factory: metrics)
        return HubJobs(
            store: storage.jobStore, containers: containers, devices: storage.hubStores.devices,
            format: RegistrationFileFormat(),
            hub: { id in try await hubs.record(of: id).map(makeHub) }, clock: clock, logger: logger,
            settings: settings, observe: { counted.note($0) })
    }

    static func remoteHub(
        _ settings: Settings, _ options: NodeOptions, _ group: any EventLoopGroup, _ logger: Logger
    ) throws -> RemoteHub? {
        guard let found = settings.remoteHub else { return nil }
        do throws(RemoteHubError) {
            let hub = try RemoteHub(
                found.connection, hub: found.name, options: RemoteHubOptions(trustRootsPath: found.trustRootsPath),
                clock: options.clock, group: group, logger: logger)
            logger.notice(
                "The app backend sends through a hub elsewhere",
                metadata: ["address": "\(hub.endpoint.authority)", "hub": "\(hub.name)"])
            return hub
        } catch {
            throw ServiceError(.notReady, "the hub elsewhere cannot be used: \(error.detail)")
        }
    }

    static func backend(
        _ settings: Settings, _ options: NodeOptions, _ storage: NodeStorage, _ hub: any HubSending, _ hubs: ManagedHubs,
        _ delivery: NodeDelivery,
        _ environments: (@Sendable () async -> [String]?)?, _ tokens: TokenVerifier?, _ provider: ProviderSignIn?,
        _ logger: Logger
    ) async throws -> RichPushBackend {
        let store = storage.backendStore
        let hasher = PasswordHasher(cost: options.passwordCost)
        return RichPushBackend(
            parts: BackendParts(
                settings: settings.backend, clock: options.clock, hub: hub, store: store,
                contentStore: MeasuredContentStore(storage.contents.store, clock: options.clock, factory: options.metrics),
                authenticator: try await authenticator(settings, options, store, hasher), hasher: hasher,
                ticketSigner: storage.tickets, observer: options.backendObserver, logger: logger,
                pushEnvironments: environments,
                hubs: hubs,
                channels: settings.remoteHub == nil ? delivery.transport.channels(of: storage.hub) : nil, tokens: tokens,
                provider: provider, nodeSettings: settings.report.nodeSettings,
                workload: workload(settings, storage, options.clock),
                webhookSecrets: storage.webhookSecrets, timeCodes: storage.timeCodes))
    }

    /// What the nodes have to do; `nil` with a hub elsewhere.
    static func workload(
        _ settings: Settings, _ storage: NodeStorage, _ clock: any ServiceClock
    ) -> (@Sendable () async throws -> Workload)? {
        guard settings.remoteHub == nil else { return nil }
        return { try await storage.workload(at: clock.now) }
    }

    /// For which environments of APNs this node can send what the app backend hands to its hub: the hub's own credential counts
    /// before the node's, as in sending.
    static func pushEnvironments(
        _ settings: Settings, of hub: HubID, _ catalog: HubCatalog
    ) -> @Sendable () async -> [String]? {
        let apns = settings.apns
        return {
            do {
                let own = try await catalog.credential(of: hub, for: .apns)?.value.apns
                if let own { return [own.environment.rawValue] }
            } catch { return nil }
            return apns.credential == nil ? [] : [apns.environment.rawValue]
        }
    }

    private static func authenticator(
        _ settings: Settings, _ options: NodeOptions, _ store: any BackendStore, _ hasher: PasswordHasher
    ) async throws -> any UserAuthenticator {
        switch options.signIn {
        case .passwords:
            return try await PasswordAuthenticator(
                users: store, counts: store, hasher: hasher, clock: options.clock)
        case .nameIsPassword:
            guard AddressRange.isLoopback(host: settings.listening.address.host) else {
                throw ServiceError(.notReady, "names as passwords are for a node that listens on this machine only")
            }
            return DemonstrationAuthenticator(users: store, clock: options.clock)
        }
    }
}
