import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    private struct CredentialPlace: Hashable {
        var hub: HubID
        var platform: Platform
    }

    private struct State: Sendable {
        var hubs: [String: Entry<CatalogHub?>] = [:]
        var credentials: [CredentialPlace: Entry<CatalogCredential?>] = [:]
        var common: Entry<[AccessRule]>?
        /// Counts the calls of `forget`: what was read before one is not remembered after it.
        var generation = 0
    }

    private let store: any HubStore
    private let secrets: HubSecrets
    private let clock: any ServiceClock
    private let state = Mutex(State())

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

    /// The credential of a hub for the push service of a platform; `nil` when the hub has none of its own.
    public func credential(of id: HubID, for platform: Platform) async throws -> CatalogCredential? {
        let now = clock.uptime
        let place = CredentialPlace(hub: id, platform: platform)
        let (known, generation) = state.withLock { ($0.credentials[place], $0.generation) }
        if let known, now - known.readAt < Self.freshness { return known.value }
        var credential: CatalogCredential?
        if let hub = try await store.record(of: id), let sealed = hub.sealedCredentials[platform] {
            credential = CatalogCredential(sealed: sealed, value: try secrets.open(sealed, for: platform, of: hub.name))
        }
        remember(generation) { state in
            if state.credentials.count >= Self.capacity { state.credentials = [:] }
            state.credentials[place] = Entry(value: credential, readAt: now)
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
}

/// A credential of a hub, and a text that is another when the credential is another.
public struct CatalogCredential: Sendable, Hashable {
    /// The sealed form. Sealing twice gives two texts, so equal texts mean that nothing was changed.
    public let sealed: String
    public let value: HubCredential
}

/// Seals and opens the secrets of hubs. Each is bound to its hub and place, so that write access to the database is not enough to
/// give one hub the keys of another.
struct HubSecrets: Sendable {
    private let box: SecretBox

    init(_ box: SecretBox) { self.box = box }

    /// The rule with sealed keys. No hub means all hubs.
    func seal(_ rule: AccessRule, of hub: HubName?, createdAt: Timestamp, at now: Timestamp) throws -> SealedAccessRule {
        SealedAccessRule(
            name: rule.name, rights: rule.rights,
            primary: try seal(rule.primary, in: .primary, ofRule: rule.name, of: hub),
            secondary: try seal(rule.secondary, in: .secondary, ofRule: rule.name, of: hub), createdAt: createdAt, updatedAt: now)
    }

    /// One key of a rule. No hub means all hubs.
    func seal(_ key: SharedAccessKey, in keyPlace: HubRegistry.KeyPlace, ofRule rule: String, of hub: HubName?) throws -> String {
        try sealing { () throws(SealingFault) in try box.seal(key.text, for: place(hub, rule, keyPlace.rawValue)) }
    }

    /// The rule with its keys. Throws `notReady` for keys of another master key.
    func open(_ rule: SealedAccessRule, of hub: HubName?) throws -> AccessRule {
        AccessRule(
            name: rule.name, rights: rule.rights, primary: try key(rule.primary, place(hub, rule.name, "primary")),
            secondary: try key(rule.secondary, place(hub, rule.name, "secondary")))
    }

    func seal(_ credential: HubCredential, of hub: HubName) throws -> String {
        let data = try JSONEncoder().encode(credential)
        let place = place(hub, credential.platform.rawValue, "credential")
        return try sealing { () throws(SealingFault) in try box.seal(Array(data), for: place) }
    }

    func open(_ sealed: String, for platform: Platform, of hub: HubName) throws -> HubCredential {
        let place = place(hub, platform.rawValue, "credential")
        let bytes = try sealing { () throws(SealingFault) in try box.open(sealed, for: place) }
        do { return try JSONDecoder().decode(HubCredential.self, from: Data(bytes)) } catch {
            throw ServiceError(.internal, "the stored credential of hub \(hub) cannot be read")
        }
    }

    private func key(_ sealed: String, _ place: String) throws -> SharedAccessKey {
        let text = try sealing { () throws(SealingFault) in try box.openText(sealed, for: place) }
        guard let key = SharedAccessKey(text) else { throw ServiceError(.internal, "a stored access key cannot be read") }
        return key
    }

    /// Names of hubs and rules hold no blank, so no two places meet.
    private func place(_ hub: HubName?, _ name: String, _ part: String) -> String {
        "\(hub.map { "hub \($0.folded)" } ?? "all-hubs") \(name) \(part)"
    }

    private func sealing<Value>(_ work: () throws(SealingFault) -> Value) throws(ServiceError) -> Value {
        do throws(SealingFault) {
            return try work()
        } catch {
            throw ServiceError(
                .notReady, "a secret of a hub cannot be opened: \(error); is master-key the one it was stored with?")
        }
    }
}
