import RichPushModel

/// Keeps which hubs there are, with their rules and credentials. What is secret arrives sealed. Errors are `ServiceError`.
public protocol HubStore: Sendable {
    /// The id of the hub with this name in lower case, or `nil`.
    func hub(named name: String) async throws -> HubID?

    /// The id of the hub with this name in lower case, which is created without rules if it is absent.
    func ensureHub(named name: String, at now: Timestamp) async throws -> HubID

    /// Creates a hub; `nil` when there is one of that name.
    func create(_ hub: NewHub, at now: Timestamp) async throws -> HubRecord?

    /// The hub of that name, or `nil`.
    func record(named name: HubName) async throws -> HubRecord?

    /// The hub with that id, or `nil`; `nil` as well once it was removed.
    func record(of id: HubID) async throws -> HubRecord?

    /// At most `limit` hubs in the order of their names, from the one after `name` on.
    func records(after name: HubName?, limit: Int) async throws -> [HubRecord]

    /// Changes a hub and counts its version up; `nil` when there is none. With a new credential, what waits after a failure is
    /// due as soon as every process has read it, at the latest.
    func update(_ id: HubID, with change: StoredHubChange, at now: Timestamp) async throws -> HubRecord?

    /// The rules of a hub by name, or those of all hubs.
    func rules(of hub: HubID?) async throws -> [SealedAccessRule]

    /// Adds or replaces a rule, and counts the hub's version up; `false` when there is no such hub.
    func put(_ rule: SealedAccessRule, of hub: HubID?, at now: Timestamp) async throws -> Bool

    /// Gives a hub rules, and all hubs theirs, where there are none yet: at once, so that of processes which begin together one makes them
    /// and the others find them.
    func beginRules(_ rules: [SealedAccessRule], of hub: HubID, forAll: SealedAccessRule) async throws

    /// Removes a rule, and counts the hub's version up; `false` when there is none.
    func removeRule(named name: String, of hub: HubID?, at now: Timestamp) async throws -> Bool

    /// Takes away the name, the rules and the credential of a hub at once; what it holds goes with `clear`. Its id is never given again.
    /// `nil` when there is none.
    func removeHub(named name: HubName, at now: Timestamp) async throws -> HubID?

    /// The hubs that were removed and still may hold something, with the moment of their removal.
    func removedHubs() async throws -> [RemovedHub]

    /// Deletes at most `limit` rows of each kind that a hub holds: devices, sends and all that belongs to them. Returns how many went.
    func clear(_ hub: HubID, limit: Int) async throws -> Int

    /// Says that a removed hub holds nothing any more.
    func forget(_ hub: HubID) async throws
}

/// A hub that was removed.
public struct RemovedHub: Hashable, Sendable {
    public let id: HubID
    public let removedAt: Timestamp

    /// Creates a value.
    public init(id: HubID, removedAt: Timestamp) {
        self.id = id
        self.removedAt = removedAt
    }
}
