/// The keys and apps of the developer portal, as far as APNs looks at them.
struct ProviderRegistry: Sendable {
    /// An app and its owner.
    struct App: Sendable, Hashable {
        var teamID: String
        /// Grows with each registration; a connection knows only apps that were there when it was bound.
        var sequence: Int
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

    mutating func register(bundleID: String, teamID: String) {
        if apps[bundleID]?.teamID == teamID { return }
        appSequence += 1
        apps[bundleID] = App(teamID: teamID, sequence: appSequence)
    }

    func key(teamID: String, keyID: String) -> RegisteredKey? { keys[KeyName(teamID: teamID, keyID: keyID)] }

    func app(_ bundleID: String) -> App? { apps[bundleID] }
}
