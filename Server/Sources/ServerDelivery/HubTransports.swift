import Logging
import PushHub
import RichPushModel
import ServiceErrors
import Synchronization

/// The push transport of a node with many hubs: each batch goes out with its hub's own credential, if it has one, else with the node's.
///
/// A client is made at first use, replaced when the hub's credential is another one, and closed when it was idle for long. What a
/// batch began with it ends with.
package final class HubTransports: PushTransport {
    /// A way to a push service that was made for one credential.
    struct Made: Sendable {
        var transport: any PushTransport
        /// The channels of the credential's app; absent where there are none.
        var channels: (any BroadcastChannels)?
        /// Ends it in order, within a time.
        var close: @Sendable (_ limit: Duration) async -> Void
    }

    /// The most clients that are open at once; each has connections and memory of its own.
    static let capacity = 128
    static let idleTime = Duration.seconds(600)
    private static let interval = Duration.seconds(5)
    /// How long a batch may wait for the credential of its hub. The deadline of a batch includes this.
    package static let credentialTimeout = Duration.seconds(2)

    private let catalog: HubCatalog
    /// By platform, for hubs without a credential of their own.
    private let node: [Platform: Made]
    /// By platform, where one transport finds the credential of each hub by itself.
    private let common: [Platform: Made]
    /// The platforms of which it was logged that there is no credential.
    private let missing = Mutex<Set<Platform>>([])
    private let make: @Sendable (HubCredential) throws -> Made
    private let clock: any ServiceClock
    private let closeTime: Duration
    private let logger: Logger
    private let table: Mutex<HubTransportTable<Made>>

    /// Creates the transport.
    /// - Parameters:
    ///   - node: for hubs without a credential of their own, by platform. The one for APNs is there, if without a credential.
    ///   - common: for hubs with a credential of their own, where one transport serves all of them.
    ///   - closeTime: how long a client may wait for answers when it is closed.
    ///   - make: makes the transport for a credential; throws what is wrong with it.
    init(
        catalog: HubCatalog, node: [Platform: Made], common: [Platform: Made] = [:], clock: any ServiceClock, logger: Logger,
        closeTime: Duration, capacity: Int = HubTransports.capacity,
        make: @escaping @Sendable (HubCredential) throws -> Made
    ) {
        self.catalog = catalog
        self.node = node
        self.common = common
        self.clock = clock
        self.logger = logger
        self.make = make
        self.closeTime = closeTime
        table = Mutex(HubTransportTable(capacity: capacity, idleTime: Self.idleTime))
    }

    /// Reads the credential, so that the batch finds it in memory.
    package func prepare(for hub: HubID, on platform: Platform) async {
        _ = try? await catalog.credential(of: hub, for: platform.service)
    }

    package func send(_ batch: PushBatch) async -> PushOutcomes {
        await withAccess(to: HubPlatform(hub: batch.hub, platform: batch.platform.service)) { access in
            switch access {
            case .success(let made): await made.transport.send(batch)
            case .failure(let failure): PushOutcomes(repeating: failure.outcome, count: batch.targets.count)
            }
        }
    }

    /// Why a hub has no way to a push service now.
    private struct NoAccess: Error {
        var outcome: PushOutcome
    }

    /// Finds the way of a hub to a push service and keeps it open while `work` uses it.
    private func withAccess<Value>(
        to hub: HubPlatform, _ work: (Result<Made, NoAccess>) async -> Value
    ) async -> Value {
        let credential: CatalogCredential?
        let asked = clock.uptime
        do {
            credential = try await catalog.credential(of: hub.hub, for: hub.platform)
        } catch {
            return await work(.failure(unreadable(error, hub)))
        }
        // Later the slice may be another node's, and the send cancelled or over.
        guard clock.uptime - asked <= Self.credentialTimeout else {
            return await work(.failure(NoAccess(outcome: .notSent(reason: "storage is slow"))))
        }
        if credential != nil, let made = common[hub.platform] { return await work(.success(made)) }
        guard let credential else {
            table.withLock { $0.drop(hub) }
            return await work(nodeAccess(hub))
        }
        switch open(hub, credential) {
        case .success(let made):
            defer { table.withLock { $0.end(hub, sealed: credential.sealed, at: clock.uptime) } }
            return await work(.success(made))
        case .failure(let failure): return await work(.failure(failure))
        }
    }

    /// The way for hubs without a credential of their own. What meets a platform without one is counted, and logged once.
    private func nodeAccess(_ hub: HubPlatform) -> Result<Made, NoAccess> {
        if let made = node[hub.platform] { return .success(made) }
        if missing.withLock({ $0.insert(hub.platform).inserted }) {
            logger.warning(
                "A send met devices of a platform for which neither the node nor the hub has a credential: their pushes count as no-transport",
                metadata: ["hub_id": "\(hub.hub.number)", "platform": "\(hub.platform.rawValue)"])
        }
        return .failure(NoAccess(outcome: .unsupported))
    }

    private func open(_ hub: HubPlatform, _ credential: CatalogCredential) -> Result<Made, NoAccess> {
        let sealed = credential.sealed
        switch table.withLock({ $0.begin(hub, sealed: sealed, at: clock.uptime) }) {
        case .use(let made): return .success(made)
        case .full: return .failure(NoAccess(outcome: .notSent(reason: "too many hubs send at once")))
        case .make: break
        }
        do {
            let made = try make(credential.value)
            return .success(table.withLock { $0.adopt(made, hub, sealed: sealed, at: clock.uptime) })
        } catch {
            logger.error(
                "A hub's credential for a push service cannot be used",
                metadata: [
                    "hub_id": "\(hub.hub.number)", "platform": "\(hub.platform.rawValue)",
                    "error_detail": "\(Self.description(of: error))",
                ])
            return .failure(NoAccess(outcome: .misconfigured(reason: "the hub's credential cannot be used")))
        }
    }

    private func unreadable(_ error: any Error, _ hub: HubPlatform) -> NoAccess {
        logger.warning(
            "A hub's credential for a push service cannot be read",
            metadata: [
                "hub_id": "\(hub.hub.number)", "platform": "\(hub.platform.rawValue)",
                "error_detail": "\(Self.description(of: error))",
            ])
        // A missing key needs the operator, as a wrong credential does. Unreachable storage may answer again.
        let isForGood = (error as? ServiceError).map { $0.code == .notReady || $0.code == .internal } ?? false
        return NoAccess(
            outcome: isForGood
                ? .misconfigured(reason: "the hub's credential cannot be opened") : .notSent(reason: "storage is unreachable"))
    }

    /// Closes unused clients until the task is cancelled; then all of them, in order.
    package func run() async {
        while !Task.isCancelled {
            await close(table.withLock { $0.takeClosing(at: clock.uptime) })
            do { try await clock.sleep(for: Self.interval) } catch { break }
        }
        await close(table.withLock { $0.takeAll() } + node.values + common.values)
    }

    private func close(_ made: [Made]) async {
        await withDiscardingTaskGroup { group in
            for one in made { group.addTask { [closeTime] in await one.close(closeTime) } }
        }
    }

    private static func description(of error: any Error) -> String {
        (error as? ServiceError)?.description ?? "\(type(of: error))"
    }
}

extension HubTransports {
    /// The channels of the app whose credential a hub sends with.
    package func channels(of hub: HubID) -> any BroadcastChannels { HubChannels(hub: hub, transports: self) }

    private struct HubChannels: BroadcastChannels {
        let hub: HubID
        let transports: HubTransports

        func create(keepsLatest: Bool) async throws(ServiceError) -> String {
            try await use { channels throws(ServiceError) in try await channels.create(keepsLatest: keepsLatest) }
        }

        func delete(_ channel: String) async throws(ServiceError) {
            try await use { channels throws(ServiceError) in try await channels.delete(channel) }
        }

        func channels() async throws(ServiceError) -> [String] {
            try await use { channels throws(ServiceError) in try await channels.channels() }
        }

        func publish(_ push: ChannelPush) async throws(ServiceError) {
            try await use(orElse: .notReady) { channels throws(ServiceError) in try await channels.publish(push) }
        }

        /// Who asks for channels without a credential is refused. A push waits for one, as others do.
        private func use<Value: Sendable>(
            orElse code: ServiceErrorCode = .conflict,
            _ work: (any BroadcastChannels) async throws(ServiceError) -> Value
        ) async throws(ServiceError) -> Value {
            let result: Result<Value, ServiceError> = await transports.withAccess(to: HubPlatform(hub: hub, platform: .apns)) {
                access in
                guard case .success(let made) = access else {
                    return .failure(ServiceError(.notReady, "the credential for APNs cannot be used or read now"))
                }
                guard let channels = made.channels else {
                    return .failure(ServiceError(code, "there is no credential for APNs"))
                }
                do throws(ServiceError) { return .success(try await work(channels)) } catch { return .failure(error) }
            }
            return try result.get()
        }
    }
}
