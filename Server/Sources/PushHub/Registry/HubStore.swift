import AuditTrail
import RichPushModel
import SharedAccess
import WireText

/// Keeps which hubs there are, with their rules and credentials. What is secret arrives sealed. Errors are `ServiceError`. An audit
/// entry is written in the transaction of the change, and only if there is one.
public protocol HubStore: Sendable {
    /// The id of the hub with this name in lower case, or `nil`.
    func hub(named name: String) async throws -> HubID?

    /// The id of the hub with this name in lower case, which is created without rules if it is absent.
    func ensureHub(named name: String, at now: Timestamp) async throws -> HubID

    /// Creates a hub; `nil` when there is one of that name.
    func create(
        _ name: HubName, with content: StoredHubChange, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> HubRecord?

    /// The hub of that name, or `nil`.
    func record(named name: HubName) async throws -> HubRecord?

    /// The hub with that id, or `nil`; `nil` as well once it was removed.
    func record(of id: HubID) async throws -> HubRecord?

    /// At most `limit` hubs in the order of their names, from the one after `name` on.
    func records(after name: HubName?, limit: Int) async throws -> [HubRecord]

    /// Changes a hub and counts its version up; `nil` when there is none. With a new credential, what waits after a failure is
    /// due as soon as every process has read it, at the latest. Throws `conflict`, and changes nothing, when the hub has another version
    /// than the one that is given.
    func update(
        _ id: HubID, with change: StoredHubChange, ifVersion version: Int64?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> HubRecord?

    /// The rules of a hub by name, or those of all hubs.
    func rules(of hub: HubID?) async throws -> [SealedAccessRule]

    /// Adds or replaces a rule, and counts the hub's version up; `false` when there is no such hub.
    func put(_ rule: SealedAccessRule, of hub: HubID?, at now: Timestamp, audit entry: AuditEntry?) async throws -> Bool

    /// Puts a sealed key in one place of a rule, leaves the other as it is, and counts the hub's version up. Returns the rule, or `nil` when
    /// there is none.
    func setKey(
        _ sealed: String, in place: HubRegistry.KeyPlace, ofRule name: String, of hub: HubID?, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> SealedAccessRule?

    /// Gives a hub rules, and all hubs theirs, where there are none yet: at once, so that of processes which begin together one makes them
    /// and the others find them.
    func beginRules(_ rules: [SealedAccessRule], of hub: HubID, forAll: SealedAccessRule) async throws

    /// Removes a rule, and counts the hub's version up; `false` when there is none.
    func removeRule(named name: String, of hub: HubID?, at now: Timestamp) async throws -> Bool

    /// Takes away the name, the rules and the credential of a hub at once; what it holds goes with `clear`. Its id is never given again.
    /// `nil` when there is none.
    func removeHub(named name: HubName, at now: Timestamp, audit entry: AuditEntry?) async throws -> HubID?

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

    public init(id: HubID, removedAt: Timestamp) {
        self.id = id
        self.removedAt = removedAt
    }
}

/// A hub as it is stored. Its secrets are sealed.
public struct HubRecord: Hashable, Sendable {
    public var id: HubID
    public var name: HubName
    public var details: HubDetails
    /// The hub's own credentials for push services, sealed. Of a platform without one that of the node holds, if it has one.
    public var sealedCredentials: [Platform: String]
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    /// Counts the changes of the hub, its rules and its credential, from 1.
    public var version: Int64

    public init(
        id: HubID, name: HubName, details: HubDetails, sealedCredentials: [Platform: String], createdAt: Timestamp,
        updatedAt: Timestamp, version: Int64
    ) {
        self.id = id
        self.name = name
        self.details = details
        self.sealedCredentials = sealedCredentials
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
    }
}

/// The name of a hub: the first word of its paths. Compared without regard to case, kept as it was spelled.
public struct HubName: Sendable, CustomStringConvertible {
    /// The most characters of a name.
    public static let maximumLength = 260

    /// Names that would hide a path of the server.
    public static let reserved = [
        "api", "phone", "console", "livez", "readyz", "metrics", "docs", "openapi.yaml", "openapi.json", "openapi-hub.yaml",
        "openapi-hub.json",
    ]

    /// As it was spelled.
    public let text: String
    /// In lower case: what is compared and searched for.
    public let folded: String

    /// Takes a name: 1 to 260 ASCII letters, digits, `.`, `-` and `_`, of which the first and the last is a letter or digit, and none
    /// of the reserved ones; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard (1...Self.maximumLength).contains(bytes.count), let first = bytes.first, let last = bytes.last,
            first.isASCIILetterOrDigit, last.isASCIILetterOrDigit,
            bytes.allSatisfy({ $0.isASCIILetterOrDigit || ".-_".utf8.contains($0) })
        else { return nil }
        self.text = String(text)
        folded = text.lowercased()
        guard !Self.reserved.contains(folded) else { return nil }
    }

    public var description: String { text }
}

extension HubName: Hashable, Comparable {
    public static func == (left: HubName, right: HubName) -> Bool { left.folded == right.folded }
    public static func < (left: HubName, right: HubName) -> Bool { left.folded.utf8.lexicographicallyPrecedes(right.folded.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

/// What an owner may say of a hub beside its keys and credentials.
public struct HubDetails: Hashable, Sendable {
    /// The most characters of the owner's own text.
    public static let maximumMetadataLength = 1024

    /// Free text of the owner, given back as it is.
    public var userMetadata: String?
    /// How long a registration without its own expiry lives; absent means without a limit.
    public var registrationLifetime: Duration?
    /// Whether a key that may only listen, which apps carry, may claim tags that are the server's to set.
    public var allowsProtectedTags: Bool

    /// Creates details.
    public init(userMetadata: String? = nil, registrationLifetime: Duration? = nil, allowsProtectedTags: Bool = false) {
        self.userMetadata = userMetadata
        self.registrationLifetime = registrationLifetime
        self.allowsProtectedTags = allowsProtectedTags
    }
}

/// What of a hub is to change, or what a new one is to be. What is absent stays; a new hub has the defaults.
public struct HubChange: Sendable, Hashable {
    /// What becomes of the credential for one push service.
    public enum Credential: Sendable, Hashable {
        case remove(Platform)
        case set(HubCredential)

        var platform: Platform {
            switch self {
            case .remove(let platform): platform
            case .set(let credential): credential.platform
            }
        }
    }

    public var details: HubDetails?
    /// All rules, in place of those there are.
    public var rules: [AccessRule]?
    /// Those of platforms that are not among them stay.
    public var credentials: [Credential]

    public init(details: HubDetails? = nil, rules: [AccessRule]? = nil, credentials: [Credential] = []) {
        self.details = details
        self.rules = rules
        self.credentials = credentials
    }

    /// What changes of a hub with these details, in words for the audit. A key, a credential or a text of the owner is not among them.
    public func words(changing present: HubDetails = HubDetails()) -> String {
        let details = details ?? present
        let metadata = details.userMetadata == present.userMetadata ? nil : "metadata=changed"
        let seconds = details.registrationLifetime.map { "\($0.components.seconds)" } ?? "none"
        let lifetime = details.registrationLifetime == present.registrationLifetime ? nil : "registration-seconds=\(seconds)"
        let names = rules.map { "rules=\($0.map(\.name).joined(separator: ","))" }
        let credentials = credentials.map { change in
            let act = if case .set = change { "set" } else { "removed" }
            return "\(change.platform.rawValue)=\(act)"
        }
        return ([metadata, lifetime, names].compactMap(\.self) + credentials).joined(separator: " ")
    }
}

/// A `HubChange` as it is stored: its secrets are sealed. A new hub that is given no rules has none.
public struct StoredHubChange: Hashable, Sendable {
    public var details: HubDetails?
    /// The sealed credentials that change; `nil` removes the one of a platform.
    public var credentials: [Platform: String?]
    /// All rules of the hub, in place of those it has.
    public var rules: [SealedAccessRule]?

    public init(details: HubDetails? = nil, credentials: [Platform: String?] = [:], rules: [SealedAccessRule]? = nil) {
        self.details = details
        self.credentials = credentials
        self.rules = rules
    }
}

/// An access rule as it is stored: its keys are sealed.
public struct SealedAccessRule: Hashable, Sendable {
    public var name: String
    public var rights: Set<AccessRight>
    public var primary: String
    public var secondary: String
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    public init(
        name: String, rights: Set<AccessRight>, primary: String, secondary: String, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.name = name
        self.rights = rights
        self.primary = primary
        self.secondary = secondary
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}
