import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The ports that the engine needs in every process: the app and the service extension each make their own.
public struct DevicePorts: Sendable {
    public var transport: any HTTPTransport
    public var secrets: any SecretStore
    public var store: any SharedStore
    public var cache: any ContentCache
    public var clock: any ServiceClock
    public var identifiers: any IdentifierSource
    public var log: any EventLog
    public var power: any PowerState

    /// Gathers the ports.
    public init(
        transport: any HTTPTransport, secrets: any SecretStore, store: any SharedStore, cache: any ContentCache,
        clock: any ServiceClock, identifiers: any IdentifierSource, log: any EventLog,
        power: any PowerState = FullPower()
    ) {
        self.transport = transport
        self.secrets = secrets
        self.store = store
        self.cache = cache
        self.clock = clock
        self.identifiers = identifiers
        self.log = log
        self.power = power
    }
}

/// The ports that only the app has.
public struct AppPorts: Sendable {
    public var notifications: any NotificationPresenting
    public var push: any PushRegistering
    public var environment: any AppEnvironment
    public var router: any ContentRouting
    /// Absent where the system runs no app in the background.
    public var scheduling: (any BackgroundScheduling)?
    /// Absent in an app whose users sign in with passwords.
    public var signInToken: SignInTokenProvider?
    /// Absent in an app without Live Activities, widgets and controls that pushes move.
    public var activities: (any ActivityHosting)?

    /// Gathers the ports.
    public init(
        notifications: any NotificationPresenting, push: any PushRegistering, environment: any AppEnvironment,
        router: any ContentRouting, scheduling: (any BackgroundScheduling)? = nil, signInToken: SignInTokenProvider? = nil,
        activities: (any ActivityHosting)? = nil
    ) {
        self.notifications = notifications
        self.push = push
        self.environment = environment
        self.router = router
        self.scheduling = scheduling
        self.signInToken = signInToken
        self.activities = activities
    }
}

/// Gives a new sign-in token of the app's user: of a trusted issuer, or a one-time token (`clt_…`) from the app's backend.
///
/// `nil` means that the app has no user any more: then everything of the last one is removed from the device. An error means that there
/// is no token now, for example without a network: then the engine asks again at the next occasion.
public typealias SignInTokenProvider = @Sendable (SignInTokenNeed) async throws -> String?

/// For what a sign-in token is needed.
public struct SignInTokenNeed: Hashable, Sendable {
    /// The installation that signs in; a one-time token may be limited to it.
    public var installation: InstallationID
    /// The user who is signed in on the device; absent when none is yet.
    public var user: String?

    /// Describes a need.
    public init(installation: InstallationID, user: String?) {
        self.installation = installation
        self.user = user
    }
}

/// Where secrets live: on Apple's systems the key chain, after first unlock, on this device only.
public protocol SecretStore: Sendable {
    /// The secret, or `nil` if there is none or this process may not read it.
    func secret(_ key: SecretKey) throws(StorageError) -> String?
    /// Keeps a secret in place of an older one.
    func setSecret(_ secret: String, for key: SecretKey) throws(StorageError)
    /// Forgets a secret; no error if there is none.
    func removeSecret(_ key: SecretKey) throws(StorageError)
}

/// The secrets of a device.
public enum SecretKey: String, Sendable, CaseIterable {
    /// The stable name of this installation. It survives a sign-out.
    case installationID = "installation-id"
    /// Whether one user or several have been signed in here: a digest of the only one's name with the installation's, or a constant for
    /// several. It survives a sign-out and reveals no name.
    case servedUser = "served-user"
    /// The narrow credential that reads content and posts receipts.
    case credential
    /// The user's password, kept only if the app asked for it because it sends pushes itself.
    case password
    /// A sign-out that has not reached the server yet, with the credential that authorises it.
    case revocation
    /// Sign-ins that may have reached the server without an answer, with the passwords that undo them. A token is never stored.
    case unconfirmedSignIn = "unconfirmed-sign-in"
    /// The private key that senders seal for. It ends with the session and is useless elsewhere.
    case sealingKey = "sealing-key"

    /// Whether the service extension may not read it. On Apple's systems such a secret lies outside the shared access group.
    public var isForAppOnly: Bool {
        switch self {
        case .installationID, .credential, .sealingKey: false
        case .password, .revocation, .unconfirmedSignIn, .servedUser: true
        }
    }
}

/// Records that app and extension share: each is written whole or not at all, and no lock is held (Reference/IOSClient.md#5).
///
/// All but the session record belongs to a session and vanishes with it. Writes for an ended session fail in every process, so that
/// work that was under way during a sign-out leaves nothing behind.
public protocol SharedStore: Sendable {
    /// The current session; `nil` when no user is signed in.
    func session() throws(StorageError) -> Session?
    /// Makes room for a session and then makes it the current one.
    func begin(_ session: Session) throws(StorageError)
    /// Replaces the record of the current session.
    func update(_ session: Session) throws(StorageError)
    /// Ends every session: forgets the record first, then all that belonged to it.
    func wipe() throws(StorageError)

    func record(_ key: RecordKey) throws(StorageError) -> Data?
    func setRecord(_ data: Data, for key: RecordKey) throws(StorageError)
    func removeRecord(_ key: RecordKey) throws(StorageError)
    /// Every record of a collection, in no order, at most `limit`.
    func records(_ collection: RecordKey.Collection, of session: SessionID, limit: Int) throws(StorageError) -> [Data]

    /// Claims a name for one process until `expiry`; `nil` when another process holds it. Never waits.
    func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim?
    /// Releases a name, unless it expired and another process has claimed it since.
    func release(_ claim: HeldClaim) throws(StorageError)
}

/// A name that this process holds.
public struct HeldClaim: Hashable, Sendable {
    public var key: RecordKey
    /// Distinguishes it from other processes' claims of the same name, before or after.
    public var token: String

    /// Describes a claim, for implementations of `SharedStore`.
    public init(_ key: RecordKey, token: String) {
        self.key = key
        self.token = token
    }
}

/// The name of a record.
public struct RecordKey: Hashable, Sendable {
    /// What kind of record.
    public enum Collection: String, Sendable, CaseIterable {
        /// Single records of a session: inbox, registration.
        case state
        /// What is known of a notification.
        case details
        /// Notifications that were shown, so that a duplicate push shows nothing.
        case shown
        /// Work for the server: receipts and read marks.
        case outbox
        /// Names claimed by a process.
        case claims
    }

    public var session: SessionID
    public var collection: Collection
    /// Any text; it never becomes part of a path.
    public var id: String

    /// Creates a name.
    public init(_ collection: Collection, _ id: String, of session: SessionID) {
        self.session = session
        self.collection = collection
        self.id = id
    }
}

/// Fetched and checked content on the device, for app and extension. It evicts the least recently used.
public protocol ContentCache: Sendable {
    /// Makes room for a session.
    func begin(_ session: SessionID) throws(StorageError)
    /// Forgets everything.
    func wipe() throws(StorageError)
    /// A new file name to download to, in a folder from which `adopt` can move the file.
    func newDownload(for session: SessionID, now: Timestamp) throws(StorageError) -> URL
    /// Takes a checked file in and makes room for it.
    func adopt(_ file: URL, as key: ContentKey, descriptor: ContentDescriptor, now: Timestamp) throws(StorageError)
        -> CachedContent
    /// The content; notes that it was used, if there is room for the note. `nil` when it is not there.
    func content(_ key: ContentKey, now: Timestamp) throws(StorageError) -> CachedContent?
    /// Whether content of this notification is there, without using it.
    func contains(_ key: ContentKey) -> Bool
    func remove(_ key: ContentKey) throws(StorageError)
    /// The same content under a readable name with the ending of its type: players need the ending, and users see the name of a shared
    /// file. `name` is the sender's and may hold any text. The file is removed with the content.
    func handedOut(
        _ content: CachedContent, named name: String?, of session: SessionID
    ) throws(StorageError) -> CachedContent
    /// A copy that the system may move away, with the ending of its type.
    func copyForSystem(_ content: CachedContent, of session: SessionID, now: Timestamp) throws(StorageError) -> URL
    /// Puts a picture where the widgets of the app find it by its notification, while the session lives.
    func share(_ content: CachedContent, as id: RichID, of session: SessionID) throws(StorageError)
    /// Removes the pictures that were shared but these; returns those that are there.
    func keepShared(_ ids: Set<RichID>) throws(StorageError) -> Set<RichID>
}

/// The name of a content: the notification and the exact version of its bytes.
public struct ContentKey: Hashable, Sendable {
    public var session: SessionID
    public var richID: RichID
    /// As in `ContentDescriptor`.
    public var sha256: String

    /// Creates a name.
    public init(_ richID: RichID, sha256: String, of session: SessionID) {
        self.session = session
        self.richID = richID
        self.sha256 = sha256
    }
}

/// Receives the engine's events. Called often and from any thread: it must return at once.
public protocol EventLog: Sendable {
    func record(_ event: DeviceEvent)
}

/// One thing that the engine did. Never a secret, a token or content.
public struct DeviceEvent: Hashable, Sendable, Codable {
    /// What.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        case signedIn, signedOut, registered, registrationFailed
        /// A sign-in with a token that went on by itself has failed for good; `reason` is `not-signed-in` when the app has no user any more.
        case signInFailed
        /// The server refuses the credential of the session: its user must sign in again.
        case rejected
        /// A user signed out, and the server did not get everything that waited for it: `replies` and `notes` count what is lost.
        case undelivered
        /// The server accepts the installation only without its tags; `kept` of the previously accepted ones are left.
        case tagsRefused
        /// A push is not for this session.
        case ignored
        /// A push for something that is being handled or was shown already.
        case repeated
        case fetched
        case fetchFailed
        /// A local notification was handed to the system.
        case presented
        case presentFailed
        /// The extension handed edited content to the system.
        case enriched
        /// The extension left the content as it was.
        case unchanged
        /// The system shows a notification of this user over the app: the inbox has something new.
        case arrived
        /// OK / More was offered.
        case offered
        case opened
        case dismissed
        case receiptsSent
        case sent
        case storageFailed
    }

    public var kind: Kind
    public var richID: RichID?
    /// Facts, for example `reason`, `bytes`, `source`.
    public var detail: [String: String]

    /// Creates an event.
    public init(_ kind: Kind, _ richID: RichID? = nil, _ detail: [String: String] = [:]) {
        self.kind = kind
        self.richID = richID
        self.detail = detail
    }
}

/// The one source of random values, so that a test can reproduce a run.
public protocol IdentifierSource: Sendable {
    /// 32 random hexadecimal digits in lower case.
    func newIdentifier() -> String
    /// A number from 0 up to but not including 1, for jitter.
    func fraction() -> Double
}

/// Random values from the system.
public struct SystemIdentifierSource: IdentifierSource {
    /// Creates a source; all are alike.
    public init() {}

    public func newIdentifier() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let word = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }.joined()
    }

    public func fraction() -> Double { Double.random(in: 0..<1) }
}

/// Whether the device saves power. The service extension needs it too, so it is not part of `AppEnvironment` alone.
public protocol PowerState: Sendable {
    /// Whether the user asked the device to save power.
    func isSavingPower() async -> Bool
}

/// For a device that never saves power, such as one without a battery.
public struct FullPower: PowerState {
    /// Creates it.
    public init() {}

    public func isSavingPower() async -> Bool { false }
}
