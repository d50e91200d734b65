import AppBackend
import CalendarTime
import ClarionTesting
import ContentStorage
import EngineTesting
import Foundation
import Logging
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import SharedAccess
import Testing

/// A backend on real storage in a temporary folder, with a scripted hub and a clock that a test moves.
final class TestBackend: Sendable {
    static let cheap = PasswordHash.Cost(logarithmOfRounds: 4, blockSize: 1, parallelism: 1)

    let folder: String
    let clock = ManualClock.aheadOfFiles()
    let hub: ScriptedHub
    let database: any SQLDatabase
    let store: any BackendStore
    let contentStore: DiskContentStore
    let events = RecordedEvents()
    let backend: RichPushBackend
    let upkeep: BackendUpkeep
    /// The hubs of the database, which the backend manages; the one called `own` cannot be removed.
    let hubs: HubRegistry

    let hasher: PasswordHasher

    init(
        zones: TimeZoneDatabase = TimeZoneDatabase(), transport: (any PushTransport)? = nil,
        _ change: (inout BackendSettings) -> Void = { _ in }
    ) async throws {
        folder = NSTemporaryDirectory() + "clarion-backend-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try await TestEngine.chosen.open(folder + "/clarion.sqlite")
        contentStore = try DiskContentStore(root: folder + "/content")
        hub = ScriptedHub(clock: clock)
        store = SQLBackendStore(database)
        hasher = PasswordHasher(cost: Self.cheap)
        var settings = BackendSettings()
        change(&settings)
        let box = SecretBox(.random())
        hubs = HubRegistry(store: SQLHubStore(database), box: box, clock: clock, kept: [try #require(HubName("own"))])
        backend = RichPushBackend(
            parts: BackendParts(
                settings: settings, clock: clock, hub: hub, store: store, contentStore: contentStore,
                authenticator: try await PasswordAuthenticator(
                    users: store, counts: store, hasher: hasher, clock: clock),
                hasher: hasher, observer: events, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                hubs: ManagedHubs(
                    registry: hubs, catalog: HubCatalog(store: SQLHubStore(database), box: box, clock: clock),
                    transport: transport, own: HubID(1)),
                zones: zones))
        upkeep = BackendUpkeep(of: backend)
    }

    deinit {
        try? database.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    static let source = SourceAddress("192.0.2.7")

    static func password(of name: String) -> String { "password of \(name)" }

    /// Creates a user and signs them in.
    func user(_ name: String, _ role: UserRole = .sender) async throws -> Principal {
        try await backend.addUser(name: name, password: Self.password(of: name), role: role)
        return try await signIn(name)
    }

    func signIn(_ name: String) async throws -> Principal {
        try await backend.authenticate(.basic(user: name, password: Self.password(of: name)), from: Self.source)
    }

    /// Registers a device in the rich push tutorial's way.
    @discardableResult
    func register(_ principal: Principal, handle: Int, tags: [String] = [], id: String? = nil) async throws -> String {
        let record =
            if let id { id } else { try await backend.newRegistration(handle: nil, for: principal).text }
        try await backend.putRegistration(
            id: record, platform: "apns", handle: Sample.handle(handle), tags: tags, for: principal)
        return record
    }

    /// Registers an installation and returns who signs with its credential.
    func install(
        _ principal: Principal, _ id: String, handle: Int?, tags: [Tag] = []
    ) async throws -> (principal: Principal, credential: String) {
        let installation = try #require(InstallationID(id))
        let answer = try await backend.putInstallation(
            id: installation, update: InstallationUpdate(handle: handle.map(Sample.handle), tags: tags), for: principal)
        let credential = try #require(answer.credential)
        return (try await backend.authenticate(.bearer(credential), from: Self.source), credential)
    }

    /// Signs a new user in on a phone with the tag `news` that reports a time zone.
    func phone(_ name: String, _ number: Int, zone: String?) async throws {
        let user = try await user(name)
        var update = InstallationUpdate(handle: Sample.handle(number), tags: [try #require(Tag("news"))])
        update.timeZone = zone
        _ = try await backend.putInstallation(
            id: try #require(InstallationID("phone-\(name)")), update: update, for: user)
    }

    /// Sends words to an audience.
    func send(
        _ principal: Principal, to audience: String? = nil, key: String? = nil,
        _ change: (inout SendRequest) -> Void = { _ in }
    ) async throws -> RichID {
        var request = SendRequest(message: "Hello")
        request.audience = audience
        change(&request)
        return try await backend.send(request, idempotencyKey: key, for: principal).id
    }

    /// Stores the picture of one pixel and returns the content's id.
    func store(name: String? = nil, _ principal: Principal) async throws -> String {
        try await store(Sample.png, name: name, principal)
    }

    /// Stores bytes and returns the content's id.
    func store(
        _ bytes: [UInt8], type: String? = nil, name: String? = nil, _ principal: Principal
    ) async throws -> String {
        try await backend.storeContent(
            declaredType: type, fileName: name, chunks: Chunks(bytes, size: 1000), for: principal
        ).id
    }

    /// The bytes of a notification's content as a user gets them.
    func content(of id: RichID, _ variant: ContentVariant = .original, for principal: Principal) async throws -> [UInt8] {
        try await Self.bytes(of: try await backend.openContent(of: id, variant: variant, for: principal))
    }

    static func bytes(of opened: ReadableContent) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in opened.read() { bytes += chunk }
        return bytes
    }

    /// How many rows a table has; a condition may follow its name.
    func rows(of table: String) async throws -> Int {
        let count = SQLStatement(composed: "SELECT COUNT(*) FROM \(table)")
        return Int(try await database.read { try $0.row(count, [])?.integer(0) ?? -1 })
    }

    /// The ids in a user's inbox, newest first.
    func inbox(_ principal: Principal) async throws -> [RichID] {
        try await backend.inbox(for: principal).notifications.map(\.id)
    }
}

/// Service keys and the audit.
extension TestBackend {
    /// A new key with these scopes.
    func key(
        _ name: String = "shop", _ scopes: String..., by principal: Principal? = nil,
        _ change: (inout ServiceKeyRequest) -> Void = { _ in }
    ) async throws -> ServiceKeyAnswer {
        var request = ServiceKeyRequest(name: name, scopes: scopes)
        change(&request)
        return try await backend.createKey(request, by: principal)
    }

    /// The caller that signs with a key.
    func signIn(with key: ServiceKeyAnswer, from source: SourceAddress = TestBackend.source) async throws -> Principal {
        try await backend.authenticate(.bearer(try #require(key.key)), from: source)
    }

    /// The audit in the order of its numbers, after one of them, with all that is committed.
    func audit(after number: Int64 = 0) async throws -> [AuditAnswer] {
        while try await store.sealAudit(limit: 100) > 0 {}
        return try await backend.audit.page(limit: AuditReader.pageLimit).entries.filter { $0.number > number }.reversed()
    }
}

/// The calls of the store without an audit entry, for tests that are about something else.
extension BackendStore {
    func createUser(name: UserName, role: UserRole, password: PasswordHash?, at now: Timestamp) async throws -> User {
        try await createUser(NewUser(name: name, role: role, password: password), at: now, audit: nil)
    }

    func setPassword(_ password: PasswordHash, of id: UserID) async throws -> Bool {
        try await setPassword(password, of: id, at: Timestamp(milliseconds: 0), audit: nil)
    }
}

/// The service error that the work throws; `nil` when it throws none. Any other error fails the test.
func refusal(_ work: () async throws -> Void) async -> ServiceError? {
    do { try await work() } catch let error as ServiceError { return error } catch { Issue.record(error) }
    return nil
}

/// The code of the service error that the work throws; `nil` when it throws none. Any other error fails the test.
func code(_ work: () async throws -> Void) async -> ServiceErrorCode? { await refusal(work)?.code }
