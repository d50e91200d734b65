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
    /// A way to APNs that was made for one hub.
    struct Made: Sendable {
        var transport: any PushTransport
        /// Ends it in order.
        var close: @Sendable () async -> Void
    }

    /// The most clients that are open at once; each has connections and memory of its own.
    static let capacity = 128
    static let idleTime = Duration.seconds(600)
    private static let interval = Duration.seconds(5)
    /// How long a batch may wait for the credential of its hub. The deadline of a batch includes this.
    package static let credentialTimeout = Duration.seconds(2)

    private let catalog: HubCatalog
    private let node: any PushTransport
    private let make: @Sendable (HubAPNsCredential) throws -> Made
    private let clock: any ServiceClock
    private let logger: Logger
    private let table: Mutex<HubTransportTable<Made>>

    /// Creates the transport.
    /// - Parameters:
    ///   - node: for hubs without a credential of their own.
    ///   - make: makes the transport for a credential; throws what is wrong with it.
    init(
        catalog: HubCatalog, node: any PushTransport, clock: any ServiceClock, logger: Logger,
        capacity: Int = HubTransports.capacity,
        make: @escaping @Sendable (HubAPNsCredential) throws -> Made
    ) {
        self.catalog = catalog
        self.node = node
        self.clock = clock
        self.logger = logger
        self.make = make
        table = Mutex(HubTransportTable(capacity: capacity, idleTime: Self.idleTime))
    }

    /// Reads the credential, so that the batch finds it in memory.
    package func prepare(for hub: HubID) async { _ = try? await catalog.credential(of: hub) }

    package func send(_ batch: PushBatch) async -> PushOutcomes {
        let credential: CatalogCredential
        let asked = clock.uptime
        do {
            credential = try await catalog.credential(of: batch.hub)
        } catch {
            return unreadable(error, batch)
        }
        // Later the slice may be another node's, and the send cancelled or over.
        guard clock.uptime - asked <= Self.credentialTimeout else { return Self.all(batch, .notSent(reason: "storage is slow")) }
        guard let apns = credential.apns, let sealed = credential.sealed else {
            table.withLock { $0.drop(batch.hub) }
            return await node.send(batch)
        }
        switch table.withLock({ $0.begin(batch.hub, sealed: sealed, at: clock.uptime) }) {
        case .use(let made): return await send(batch, made, sealed)
        case .make: return await makeAndSend(batch, apns, sealed)
        case .full: return Self.all(batch, .notSent(reason: "too many hubs send at once"))
        }
    }

    private func makeAndSend(_ batch: PushBatch, _ credential: HubAPNsCredential, _ sealed: String) async -> PushOutcomes {
        let made: Made
        do {
            made = try make(credential)
        } catch {
            logger.error(
                "A hub's credential for APNs cannot be used",
                metadata: ["hub_id": "\(batch.hub.number)", "error_detail": "\(Self.description(of: error))"])
            return Self.all(batch, .misconfigured(reason: "the hub's credential for APNs cannot be used"))
        }
        let kept = table.withLock { $0.adopt(made, batch.hub, sealed: sealed, at: clock.uptime) }
        return await send(batch, kept, sealed)
    }

    private func send(_ batch: PushBatch, _ made: Made, _ sealed: String) async -> PushOutcomes {
        let outcomes = await made.transport.send(batch)
        table.withLock { $0.end(batch.hub, sealed: sealed, at: clock.uptime) }
        return outcomes
    }

    private func unreadable(_ error: any Error, _ batch: PushBatch) -> PushOutcomes {
        logger.warning(
            "A hub's credential for APNs cannot be read",
            metadata: ["hub_id": "\(batch.hub.number)", "error_detail": "\(Self.description(of: error))"])
        // A missing key needs the operator, as a wrong credential does. Unreachable storage may answer again.
        let isForGood = (error as? ServiceError).map { $0.code == .notReady || $0.code == .internal } ?? false
        return Self.all(
            batch,
            isForGood
                ? .misconfigured(reason: "the hub's credential cannot be opened") : .notSent(reason: "storage is unreachable"))
    }

    /// Closes unused clients until the task is cancelled; then all of them, in order.
    package func run() async {
        while !Task.isCancelled {
            await close(table.withLock { $0.takeClosing(at: clock.uptime) })
            do { try await clock.sleep(for: Self.interval) } catch { break }
        }
        await close(table.withLock { $0.takeAll() })
    }

    private func close(_ made: [Made]) async {
        await withDiscardingTaskGroup { group in
            for one in made { group.addTask { await one.close() } }
        }
    }

    private static func all(_ batch: PushBatch, _ outcome: PushOutcome) -> PushOutcomes {
        PushOutcomes(repeating: outcome, count: batch.targets.count)
    }

    private static func description(of error: any Error) -> String {
        (error as? ServiceError)?.description ?? "\(type(of: error))"
    }
}
