import AuditTrail
import FCMProtocol
import HubHTTPAPI
import PushHub
import RichPushModel
import ServerDelivery
import ServerSettings
import ServerStorage
import ServiceErrors
import SharedAccess

/// What the operator does with hubs, straight on the database, whether or not a server runs on it. A running server heeds it within
/// seconds. Changes are recorded in the audit, and so is each key or link that is shown, before it is.
public struct HubAdministration: Sendable {
    /// A hub as the operator sees it. Nothing secret is in it.
    public struct Overview: Sendable {
        public var record: HubRecord
        /// Its rules; the keys are not shown.
        public var rules: [AccessRule]
        /// Its own credentials, by platform; the node's serves the others.
        public var credentials: [Platform: HubCredential]
        /// The platforms for which the settings have one.
        public var nodePlatforms: [Platform]
        public var deviceCount: Int

        /// With which credential the hub sends to a platform.
        public func credentialWords(for platform: Platform) -> String {
            if let own = credentials[platform] { return "\(own)" }
            return nodePlatforms.contains(platform)
                ? "that of the node" : "none, neither of the hub nor in the settings of the node"
        }
    }

    private let settings: Settings

    /// Works on the data directory of these settings.
    public init(settings: Settings) { self.settings = settings }

    /// Creates a hub with the two default rules. Throws `conflict` when the name is taken.
    @discardableResult
    public func create(_ name: HubName, details: HubDetails) async throws -> HubRecord {
        try await withStorage { storage in
            try await storage.hubs.create(
                name, HubChange(details: details), audit: Self.entry(.hubCreated, name, storage))
        }
    }

    /// Every hub, by name.
    public func list() async throws -> [HubRecord] {
        try await withStorage { storage in
            var hubs: [HubRecord] = []
            while true {
                let page = try await storage.hubs.hubs(after: hubs.last?.name)
                hubs += page
                if page.count < HubRegistry.maximumPage { return hubs }
            }
        }
    }

    /// One hub. Throws `notFound`.
    public func show(_ name: HubName) async throws -> Overview {
        try await withStorage { storage in
            let record = try await Self.record(name, storage)
            return Overview(
                record: record, rules: try await storage.hubs.rules(of: name),
                credentials: try record.sealedCredentials.reduce(into: [:]) { found, sealed in
                    found[sealed.key] = try storage.hubs.credential(of: record, for: sealed.key)
                },
                nodePlatforms: settings.platforms,
                deviceCount: try await storage.hubStores.devices.count(in: record.id))
        }
    }

    /// The rule of a hub, or of all hubs, with its keys: for the connection string that was asked for.
    public func rule(named rule: String, of name: HubName?) async throws -> AccessRule {
        try await withStorage { storage in
            let found = try await storage.hubs.rule(named: rule, of: name)
            try await storage.backendStore.record(Self.entry(.hubKeyShown, name, storage, details: "rule=\(found.name)"))
            return found
        }
    }

    /// A signed link to a new container for the files of jobs. `base` is scheme and authority of the server.
    public func containerLink(of name: HubName, at base: String, lifetime: Duration) async throws -> String {
        try await withStorage { storage in
            let hub = try await Self.record(name, storage)
            try await storage.backendStore.record(Self.entry(.hubKeyShown, name, storage, details: "link=container"))
            return HubFiles.link(
                to: .random(), of: hub, at: base, allowing: [.read, .write, .list], until: storage.clock.now + lifetime,
                by: storage.signer)
        }
    }

    /// Gives a rule a new key. The other key goes on working.
    public func rotate(_ place: HubRegistry.KeyPlace, ofRule rule: String, of name: HubName?) async throws -> AccessRule {
        try await withStorage { storage in
            let entry = Self.entry(.hubKeyRolled, name, storage, details: "rule=\(rule) key=\(place.rawValue)")
            return try await storage.hubs.rotate(place, ofRule: rule, of: name, audit: entry)
        }
    }

    /// Sets a credential of a hub after a look at it, or removes it.
    public func setCredential(_ credential: HubChange.Credential, of name: HubName) async throws {
        try await withStorage { storage in
            let change = HubChange(credentials: [credential])
            _ = try await storage.hubs.update(
                name, with: change, audit: Self.entry(.hubChanged, name, storage, details: change.words()))
        }
    }

    /// Looks at a credential as `setCredential` does, without a hub. Throws `invalid-field` with what is wrong, and nothing of its key.
    public static func check(_ credential: HubCredential) throws(ServiceError) { try HubCredentialCheck.check(credential) }

    /// Whether a credential for APNs may name this app.
    public static func isBundleID(_ text: String) -> Bool { HubCredentialCheck.isBundleID(text) }

    /// The service account in the key file that the Firebase console gives. Throws `invalid-field` with what is wrong, by the names that the
    /// file has, also for an account that gets its access tokens where this node does not ask for them.
    public func credential(inKeyFile file: [UInt8]) throws(ServiceError) -> HubFCMCredential {
        let account: FCMServiceAccount
        do throws(FCMServiceAccountFault) { account = try FCMServiceAccount(keyFile: file) } catch {
            throw ServiceError(.invalidField, "\(error)")
        }
        if let refusal = settings.fcm.refusal(ofTokenURL: account.tokenURL) { throw ServiceError(.invalidField, refusal) }
        return HubFCMCredential(
            projectID: account.projectID, clientEmail: account.clientEmail, privateKey: account.privateKey, keyID: account.keyID)
    }

    /// Removes a hub and all it holds; `progress` is called after each step. Throws `notFound`, and `conflict` for the node's own hub.
    public func delete(_ name: HubName, progress: @Sendable () -> Void = {}) async throws {
        try await withStorage { storage in
            try await storage.hubs.remove(name, audit: Self.entry(.hubRemoved, name, storage))
            while try await storage.hubs.clearStep() { progress() }
        }
    }

    /// An audit entry of a command. Without a name it is about the rules for all hubs.
    private static func entry(
        _ action: AuditAction, _ name: HubName?, _ storage: NodeStorage, details: String = ""
    ) -> AuditEntry {
        AuditEntry(action, by: .command, at: storage.clock.now, object: name?.text ?? "", details: details)
    }

    private static func record(_ name: HubName, _ storage: NodeStorage) async throws -> HubRecord {
        guard let record = try await storage.hubs.hub(named: name) else {
            throw ServiceError(.notFound, "there is no hub \(name)")
        }
        return record
    }

    private func withStorage<Result: Sendable>(_ body: (NodeStorage) async throws -> Result) async throws -> Result {
        try await NodeStorage.during(command: settings, body)
    }
}
