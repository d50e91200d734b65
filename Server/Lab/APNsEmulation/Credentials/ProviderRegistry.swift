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
