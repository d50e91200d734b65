import AppBackend
import HubHTTPAPI
import Logging
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

/// One composed node: storage, hub, dispatcher, app backend and HTTP interface. The only place where adapters meet.
public struct ServerNode: Sendable {
    /// The hub, for what is composed beside the node.
    public let hub: NotificationHub
    /// The app backend, for what is composed beside the node.
    public let backend: RichPushBackend

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
    let frontDoor: FrontDoorIdentity?
    let dispatcher: Dispatcher
    /// What the node does because there may be others; absent when there can be none.
    let membership: NodeMembership?
    /// The default picture, when the content store was away at the start.
    let pictureToStore: DefaultPictureKeeper?
    /// Whether the node can do its work.
    let readiness: NodeReadiness
    let group: any EventLoopGroup
    let logger: Logger

    /// Opens storage, tells the other nodes of this one and puts the parts together; nothing listens or sends yet.
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
            // Early, because whoever changes the schema waits for nodes that it sees.
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
        frontDoor = try settings.listening.tls.map { tls in
            try FrontDoorIdentity(settings, tls, clock: options.clock, logger: logger)
        }
        delivery = try NodeDelivery(
            settings, catalog: catalog, clock: options.clock, group: group, observer: options.clientObserver, logger: logger)
        let clock = options.clock
        let observer = HubObservers(
            observers: [PushMetrics(factory: options.metrics, clock: clock)] + [options.hubObserver].compactMap(\.self))
        let stores = storage.hubStores
        let aloneSince = settings.database == nil ? clock.now : nil
        let makeHub: @Sendable (HubID, NotificationHub.Settings) -> NotificationHub = { id, common in
            var settings = common
            settings.aloneSince = aloneSince
            return NotificationHub(
                id: id, stores: stores, clock: clock, settings: settings, signal: signal, observer: observer, logger: logger)
        }
        hub = makeHub(storage.hub, Self.hubSettings(settings))
        let makeServed: @Sendable (HubRecord) -> NotificationHub = { makeHub($0.id, Self.hubSettings(settings, $0)) }
        hubs = HubDirectory(catalog: catalog, registry: storage.hubs) { makeServed($0.record) }
        let dispatch = Self.dispatchSettings(settings, options, storage.identity)
        jobs = Self.jobs(storage, dispatch, clock, options.metrics, logger, makeServed)
        dispatcher = Dispatcher(
            queue: storage.sliceQueue, transport: delivery.transport, clock: options.clock,
            settings: dispatch, signal: signal, observer: observer,
            logger: logger)
        remoteHub = try Self.remoteHub(settings, options, group, logger)
        let environments = remoteHub == nil ? Self.pushEnvironments(settings, of: storage.hub, catalog) : nil
        do {
            backend = try await Self.backend(settings, options, storage, remoteHub ?? hub, environments, logger)
            let picture = try DefaultPictureKeeper(settings, backend: backend, clock: clock, logger: logger)
            pictureToStore = try await picture.store() ? nil : picture
        } catch {
            try? await remoteHub?.shutDown()
            throw error
        }
    }
}
