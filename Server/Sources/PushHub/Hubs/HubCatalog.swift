import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization

/// What every request and every batch asks about hubs, from memory: re-read after five seconds, so that a key or credential that was
/// changed or removed by any process counts after that time at most.
public final class HubCatalog: Sendable {
    /// How old an answer may be.
    public static let freshness = Duration.seconds(5)
    /// The most names and ids that are remembered; names that exist nowhere are remembered too.
    public static let capacity = 4_096

    private struct Entry<Value: Sendable>: Sendable {
        var value: Value
        var readAt: Duration
    }

    private struct State: Sendable {
        var hubs: [String: Entry<CatalogHub?>] = [:]
        var credentials: [HubID: Entry<CatalogCredential>] = [:]
        var common: Entry<[AccessRule]>?
        /// Counts the calls of `forget`: what was read before one is not remembered after it.
        var generation = 0
    }

    private let store: any HubStore
    private let secrets: HubSecrets
    private let clock: any ServiceClock
    private let state = Mutex(State())

    /// Creates an empty catalog.
    public init(store: any HubStore, box: SecretBox, clock: any ServiceClock) {
        self.store = store
        secrets = HubSecrets(box)
        self.clock = clock
    }

    /// The hub of that name in any spelling, with its rules, or `nil`.
    public func hub(named text: some StringProtocol) async throws -> CatalogHub? {
        guard let name = HubName(text) else { return nil }
        let now = clock.uptime
        let (known, generation) = state.withLock { ($0.hubs[name.folded], $0.generation) }
        if let known, now - known.readAt < Self.freshness { return known.value }
        let found = try await read(name)
        remember(generation) { state in
            if state.hubs.count >= Self.capacity { state.hubs = [:] }
            state.hubs[name.folded] = Entry(value: found, readAt: now)
        }
        return found
    }

    /// The rules that hold for all hubs.
    public func commonRules() async throws -> [AccessRule] {
        let now = clock.uptime
        let (known, generation) = state.withLock { ($0.common, $0.generation) }
        if let known, now - known.readAt < Self.freshness { return known.value }
        let rules = try await store.rules(of: nil).map { try secrets.open($0, of: nil) }
        remember(generation) { $0.common = Entry(value: rules, readAt: now) }
        return rules
    }

    /// The credential of a hub for APNs.
    public func credential(of id: HubID) async throws -> CatalogCredential {
        let now = clock.uptime
        let (known, generation) = state.withLock { ($0.credentials[id], $0.generation) }
        if let known, now - known.readAt < Self.freshness { return known.value }
        let record = try await store.record(of: id)
        let credential = CatalogCredential(
            sealed: record?.sealedAPNs,
            apns: try record.flatMap { hub in try hub.sealedAPNs.map { try secrets.openAPNs($0, of: hub.name) } })
        remember(generation) { state in
            if state.credentials.count >= Self.capacity { state.credentials = [:] }
            state.credentials[id] = Entry(value: credential, readAt: now)
        }
        return credential
    }

    /// Forgets everything, after a change made in this process.
    public func forget() {
        state.withLock { $0 = State(generation: $0.generation + 1) }
    }

    private func remember(_ generation: Int, _ change: (inout sending State) -> Void) {
        state.withLock { state in
            if state.generation == generation { change(&state) }
        }
    }

    private func read(_ name: HubName) async throws -> CatalogHub? {
        guard let record = try await store.record(named: name) else { return nil }
        return CatalogHub(record: record, rules: try await store.rules(of: record.id).map { try secrets.open($0, of: name) })
    }
}

/// A hub and its own rules, as of some seconds ago at most.
public struct CatalogHub: Sendable, Hashable {
    public let record: HubRecord
    public let rules: [AccessRule]

    public var id: HubID { record.id }

    /// Creates a value.
    public init(record: HubRecord, rules: [AccessRule]) {
        self.record = record
        self.rules = rules
    }
}

/// The credential of a hub for APNs, and a text that is another when the credential is another.
public struct CatalogCredential: Sendable, Hashable {
    /// The sealed form. Sealing twice gives two texts, so equal texts mean that nothing was changed.
    public let sealed: String?
    /// Absent when the hub has none of its own.
    public let apns: HubAPNsCredential?

    /// Creates a value.
    public init(sealed: String?, apns: HubAPNsCredential?) {
        self.sealed = sealed
        self.apns = apns
    }
}
