import APNsProtocol

extension LocalAPNs {
    /// Makes the public half of a provider key known.
    ///
    /// - Parameters:
    ///   - environment: `nil` for a key of both environments, as legacy keys are.
    ///   - topics: the bundle ids of a topic-specific key; `nil` for a team-scoped key (Reference/APNs.md#2-2).
    ///   - relatedKeyID: the one key that a connection of this topic-specific key accepts as well.
    /// - Throws: `LocalAPNsError`. A private key is refused.
    public func registerKey(
        teamID: String, keyID: String, publicKeyPEM: String, environment: Environment? = nil, topics: Set<String>? = nil,
        relatedKeyID: String? = nil
    ) throws {
        let key = try RegisteredKey(
            teamID: teamID, keyID: keyID, publicKeyPEM: publicKeyPEM, environment: environment, topics: topics,
            relatedKeyID: relatedKeyID)
        core.state.withLockedValue { state in
            state.registry.register(key)
            state.keptRevision += 1
        }
    }

    /// Whether the app of a topic, with a suffix or without, is registered.
    public func knowsApp(ofTopic topic: String) -> Bool {
        core.state.withLockedValue { $0.registry.app(TopicName(topic).bundleID) != nil }
    }

    /// Forgets a key, as when it is revoked.
    public func revokeKey(teamID: String, keyID: String) {
        core.state.withLockedValue { state in
            state.registry.revoke(teamID: teamID, keyID: keyID)
            state.keptRevision += 1
        }
    }

    /// Makes an app known; an app has one team. Connections that pushed before do not see it (Reference/APNs.md#2-3).
    /// Throws `LocalAPNsError` if the bundle or team id is malformed.
    ///
    /// - Parameter broadcasts: the broadcast capability, which an app has to be given. Taking it away destroys all channels
    ///   of the app (Reference/APNs.md#5-1).
    public func registerApp(bundleID: String, teamID: String, broadcasts: Bool = false) throws {
        let bundleID = try RegisteredKey.checkedBundleID(bundleID)
        let teamID = try RegisteredKey.checkedIdentifier(teamID)
        core.state.withLockedValue { state in
            state.keptRevision += 1
            state.registry.register(bundleID: bundleID, teamID: teamID, allowsBroadcasts: broadcasts)
            if !broadcasts { state.channels.deleteAll(bundleID: bundleID) }
        }
    }
}
