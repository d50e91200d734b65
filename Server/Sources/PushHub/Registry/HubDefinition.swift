import SharedAccess

/// What a new hub is to be.
public struct HubDefinition: Sendable, Hashable {
    public var details: HubDetails
    /// Absent means the two default rules.
    public var rules: [AccessRule]?
    public var apns: HubAPNsCredential?

    /// Creates a definition.
    public init(details: HubDetails = HubDetails(), rules: [AccessRule]? = nil, apns: HubAPNsCredential? = nil) {
        self.details = details
        self.rules = rules
        self.apns = apns
    }
}

/// What of a hub is to change. What is absent stays.
public struct HubChange: Sendable, Hashable {
    /// What becomes of the credential for APNs.
    public enum Credential: Sendable, Hashable {
        case keep
        case remove
        case set(HubAPNsCredential)
    }

    public var details: HubDetails?
    /// All rules, in place of those there are.
    public var rules: [AccessRule]?
    public var apns: Credential

    /// Creates a change.
    public init(details: HubDetails? = nil, rules: [AccessRule]? = nil, apns: Credential = .keep) {
        self.details = details
        self.rules = rules
        self.apns = apns
    }
}
