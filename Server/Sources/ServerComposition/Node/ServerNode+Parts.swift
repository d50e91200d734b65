import AppBackend
import HubHTTPAPI
import Logging
import Metrics
import NIOCore
import PushHub
import RemoteHub
import RichPushModel
import ServerDelivery
import ServerSettings
import ServerStorage
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        dispatch.pushDeadline = settings.pushDeadline + HubTransports.patience
        // A node sends only while its lease outlasts the deadline of a push, so a lease has to hold for more than two. Others wait
        // for its end when a node is gone, so not for much longer.
        dispatch.leaseDuration = settings.pushDeadline * 2 + .seconds(20)
        dispatch.retryHorizon = settings.hubBounds.retryHorizon
        dispatch.retries = RetryTable(unknownTries: settings.hubBounds.unknownTries)
        // Less than the whole, so that the connections to Apple can still end in order.
        dispatch.drainDeadline = settings.shutdownDeadline * 4 / 5
        return dispatch
    }

    /// How a hub of this node behaves; without a record as one that nobody changed.
    static func hubSettings(_ settings: Settings, _ hub: HubRecord? = nil) -> NotificationHub.Settings {
        var result = NotificationHub.Settings()
        result.scheduleHorizon = settings.hubBounds.scheduleHorizon
        result.limits = settings.hubBounds.ofHub
        result.registrationTTL = hub?.details.registrationLifetime
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
        _ settings: Settings, _ options: NodeOptions, _ storage: NodeStorage, _ hub: any HubSending,
        _ environments: (@Sendable () async -> [String]?)?, _ logger: Logger
    ) async throws -> RichPushBackend {
        let stores = storage.backendStores
        let hasher = PasswordHasher(cost: options.passwordCost)
        return RichPushBackend(
            parts: BackendParts(
                settings: settings.backend, clock: options.clock, hub: hub, stores: stores,
                contentStore: MeasuredContentStore(storage.contents.store, clock: options.clock, factory: options.metrics),
                authenticator: try await authenticator(settings, options, stores, hasher), hasher: hasher,
                ticketSigner: storage.tickets, observer: options.backendObserver, logger: logger,
                pushEnvironments: environments))
    }

    /// For which environments of APNs this node can send what the app backend hands to its hub: the hub's own credential counts
    /// before the node's, as in sending.
    static func pushEnvironments(
        _ settings: Settings, of hub: HubID, _ catalog: HubCatalog
    ) -> @Sendable () async -> [String]? {
        let apns = settings.apns
        return {
            guard let credential = try? await catalog.credential(of: hub) else { return nil }
            if let own = credential.apns { return [own.environment.rawValue] }
            return apns.credential == nil ? [] : [apns.environment.rawValue]
        }
    }

    private static func authenticator(
        _ settings: Settings, _ options: NodeOptions, _ stores: BackendStores, _ hasher: PasswordHasher
    ) async throws -> any UserAuthenticator {
        switch options.signIn {
        case .passwords:
            return try await PasswordAuthenticator(
                users: stores.users, counts: stores.signInCounts, hasher: hasher, clock: options.clock)
        case .nameIsPassword:
            guard AddressRange.isLoopback(host: settings.listening.address.host) else {
                throw ServiceError(.notReady, "names as passwords are for a node that listens on this machine only")
            }
            return DemonstrationAuthenticator(users: stores.users, clock: options.clock)
        }
    }
}
