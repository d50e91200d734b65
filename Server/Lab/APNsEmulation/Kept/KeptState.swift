import APNsProtocol
import RichPushModel

/// What a local APNs knows that outlasts a run: without it every device token of a client is `BadDeviceToken` after a restart.
///
/// Pushes that wait for a device, records, faults and rules are not part of it.
public struct KeptState: Sendable, Hashable, Codable {
    /// An app with its team.
    public struct App: Sendable, Hashable, Codable {
        var bundleID: String
        var teamID: String
        var broadcasts: Bool
    }

    /// The public half of a provider key.
    public struct Key: Sendable, Hashable, Codable {
        var teamID: String
        var keyID: String
        var publicKey: String
        var environment: String?
        var topics: [String]?
        var relatedKeyID: String?
    }

    /// A device token, dead ones too.
    public struct Token: Sendable, Hashable, Codable {
        var token: String
        var device: String
        var topic: String
        /// Absent for the token of the app.
        var name: String?
        /// In milliseconds since 1970; absent while the token lives.
        var unregisteredSince: Int64?
        var expiredSince: Int64?
    }

    /// A broadcast channel with the devices that follow it.
    public struct Channel: Sendable, Hashable, Codable {
        var id: String
        var bundleID: String
        var policy: ChannelPolicy
        var devices: [String]
    }

    /// Whether there is nothing to keep.
    public var isEmpty: Bool {
        apps.isEmpty && keys.isEmpty && tokens.isEmpty && channels.isEmpty && revokedCertificates.isEmpty
    }

    /// The form of this document.
    static let presentVersion = 1

    var version = Self.presentVersion
    var apps: [App] = []
    var keys: [Key] = []
    var tokens: [Token] = []
    var channels: [Channel] = []
    var revokedCertificates: [String] = []
}

extension LocalAPNs {
    /// Grows with every change of `keptState`.
    public var keptRevision: Int { core.state.withLockedValue { $0.keptRevision } }

    /// What the next run needs to know, in an order that does not depend on chance.
    public var keptState: KeptState { core.state.withLockedValue { $0.kept } }

    /// Restores the state of an earlier run; call it before `start`. Later registrations replace its keys and apps.
    /// Throws `LocalAPNsError`, and has then restored nothing.
    public func restore(_ kept: KeptState) throws {
        guard kept.version == KeptState.presentVersion else { throw LocalAPNsError.badKeptState("it has another version") }
        try core.state.withLockedValue { state in
            var restored = state
            try restored.restore(kept)
            state = restored
        }
    }
}

extension ServiceState {
    fileprivate var kept: KeptState {
        var kept = KeptState()
        kept.apps = registry.registeredApps.sorted { $0.value.sequence < $1.value.sequence }.map { name, app in
            .init(bundleID: name, teamID: app.teamID, broadcasts: app.allowsBroadcasts)
        }
        kept.keys = registry.registeredKeys.sorted { ($0.teamID, $0.keyID) < ($1.teamID, $1.keyID) }.map { key in
            .init(
                teamID: key.teamID, keyID: key.keyID, publicKey: key.publicKey.pemRepresentation,
                environment: key.environment?.rawValue, topics: key.topics?.sorted(), relatedKeyID: key.relatedKeyID)
        }
        kept.tokens = tokens.tokens.sorted { $0.key < $1.key }.map { token, entry in
            var kept = KeptState.Token(token: token, device: entry.device, topic: entry.topic)
            if !entry.name.isEmpty { kept.name = entry.name }
            switch entry.life {
            case .alive: break
            case .unregistered(let since): kept.unregisteredSince = since.milliseconds
            case .expired(let since): kept.expiredSince = since.milliseconds
            }
            return kept
        }
        kept.channels = channels.living.map { channel in
            .init(id: channel.id, bundleID: channel.bundleID, policy: channel.policy, devices: channel.subscribers.sorted())
        }
        kept.revokedCertificates = revokedCertificates.sorted()
        return kept
    }

    fileprivate mutating func restore(_ kept: KeptState) throws {
        for app in kept.apps {
            let bundleID = try RegisteredKey.checkedBundleID(app.bundleID)
            let team = try RegisteredKey.checkedIdentifier(app.teamID)
            registry.register(bundleID: bundleID, teamID: team, allowsBroadcasts: app.broadcasts)
        }
        for key in kept.keys {
            let environment = key.environment.map(APNsEnvironment.init(rawValue:))
            guard environment != .some(nil) else { throw LocalAPNsError.badKeptState("a key has an unknown environment") }
            registry.register(
                try RegisteredKey(
                    teamID: key.teamID, keyID: key.keyID, publicKeyPEM: key.publicKey, environment: environment ?? nil,
                    topics: key.topics.map(Set.init), relatedKeyID: key.relatedKeyID))
        }
        for token in kept.tokens { try restore(token) }
        for channel in kept.channels {
            guard APNsText.isChannelID(channel.id) else { throw LocalAPNsError.badKeptState("a channel has no id") }
            channels.restore(channel.id, bundleID: channel.bundleID, policy: channel.policy, subscribers: channel.devices)
        }
        revokedCertificates.formUnion(kept.revokedCertificates.compactMap(CertificateSerialNumber.canonical))
    }

    private mutating func restore(_ kept: KeptState.Token) throws {
        let token = kept.token.lowercased()
        guard APNsText.isDeviceToken(token) else { throw LocalAPNsError.badDeviceToken }
        if let since = kept.unregisteredSince {
            let life = RequestEvidence.Target.Life.unregistered(since: Timestamp(milliseconds: since))
            tokens.restoreDead(token, device: kept.device, topic: kept.topic, name: kept.name ?? "", life: life)
        } else if let since = kept.expiredSince {
            let life = RequestEvidence.Target.Life.expired(since: Timestamp(milliseconds: since))
            tokens.restoreDead(token, device: kept.device, topic: kept.topic, name: kept.name ?? "", life: life)
        } else {
            try tokens.register(token, device: kept.device, topic: kept.topic, name: kept.name ?? "")
        }
    }
}
