/// A hub to be stored, its secrets sealed.
public struct NewHub: Hashable, Sendable {
    public var name: HubName
    public var details: HubDetails
    public var sealedAPNs: String?
    public var rules: [SealedAccessRule]

    /// Creates a hub.
    public init(name: HubName, details: HubDetails = HubDetails(), sealedAPNs: String? = nil, rules: [SealedAccessRule] = []) {
        self.name = name
        self.details = details
        self.sealedAPNs = sealedAPNs
        self.rules = rules
    }
}

/// What of a stored hub is to change. What is absent stays.
public struct StoredHubChange: Hashable, Sendable {
    /// What becomes of the sealed credential.
    public enum Credential: Hashable, Sendable {
        case keep
        case remove
        case set(String)
    }

    public var details: HubDetails?
    public var credential: Credential
    /// All rules of the hub, in place of those it has.
    public var rules: [SealedAccessRule]?

    /// Creates a change.
    public init(details: HubDetails? = nil, credential: Credential = .keep, rules: [SealedAccessRule]? = nil) {
        self.details = details
        self.credential = credential
        self.rules = rules
    }
}
