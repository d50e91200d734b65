import APNsProtocol
import Crypto

/// The keys and apps of the developer portal, as far as APNs looks at them.
struct ProviderRegistry: Sendable {
    /// An app and its owner.
    struct App: Sendable, Hashable {
        var teamID: String
        /// Grows with each registration; a connection knows only apps that were there when it was bound.
        var sequence: Int
        /// Whether the app has the broadcast capability.
        var allowsBroadcasts: Bool
    }

    private struct KeyName: Hashable {
        var teamID: String
        var keyID: String
    }

    private var keys: [KeyName: RegisteredKey] = [:]
    private var apps: [String: App] = [:]
    /// Grows with every change of the keys, so that verdicts on provider tokens can be kept.
    private(set) var keyGeneration = 0
    private(set) var appSequence = 0

    mutating func register(_ key: RegisteredKey) {
        keys[KeyName(teamID: key.teamID, keyID: key.keyID)] = key
        keyGeneration += 1
    }

    mutating func revoke(teamID: String, keyID: String) {
        keys[KeyName(teamID: teamID, keyID: keyID)] = nil
        keyGeneration += 1
    }

    mutating func register(bundleID: String, teamID: String, allowsBroadcasts: Bool) {
        if apps[bundleID]?.teamID == teamID {
            apps[bundleID]?.allowsBroadcasts = allowsBroadcasts
            return
        }
        appSequence += 1
        apps[bundleID] = App(teamID: teamID, sequence: appSequence, allowsBroadcasts: allowsBroadcasts)
    }

    var registeredKeys: [RegisteredKey] { Array(keys.values) }

    var registeredApps: [String: App] { apps }

    func key(teamID: String, keyID: String) -> RegisteredKey? { keys[KeyName(teamID: teamID, keyID: keyID)] }

    func app(_ bundleID: String) -> App? { apps[bundleID] }
}

/// The public half of a provider key with its scope (Reference/APNs.md#2-2).
struct RegisteredKey: Sendable {
    let teamID: String
    let keyID: String
    let publicKey: P256.Signing.PublicKey
    /// `nil` serves both environments.
    let environment: APNsEnvironment?
    /// `nil` for a team-scoped key.
    let topics: Set<String>?
    let relatedKeyID: String?

    init(
        teamID: String, keyID: String, publicKeyPEM: String, environment: APNsEnvironment? = nil, topics: Set<String>? = nil,
        relatedKeyID: String? = nil
    ) throws {
        self.teamID = try Self.checkedIdentifier(teamID)
        self.keyID = try Self.checkedIdentifier(keyID)
        guard !publicKeyPEM.contains("PRIVATE KEY") else { throw LocalAPNsError.privateKeyOffered(keyID: keyID) }
        do {
            publicKey = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
        } catch {
            throw LocalAPNsError.badPublicKey(keyID: keyID, cause: "\(type(of: error))")
        }
        self.environment = environment
        for topic in topics ?? [] { _ = try Self.checkedBundleID(topic) }
        self.topics = topics
        self.relatedKeyID = try relatedKeyID.map(Self.checkedIdentifier)
    }

    /// An app's own topic.
    static func checkedBundleID(_ text: String) throws -> String {
        guard APNsText.isTopic(text), TopicName(text).suffix.isEmpty else { throw LocalAPNsError.badBundleID(text) }
        return text
    }

    /// Team and key ids are ten letters and digits (Reference/APNs.md#2-1).
    static func checkedIdentifier(_ text: String) throws -> String {
        let wellFormed = text.utf8.count == 10 && text.utf8.allSatisfy { APNsText.isAlphanumeric($0) }
        guard wellFormed else { throw LocalAPNsError.badIdentifier(String(text.prefix(40))) }
        return text
    }
}
