import AppBackend
import AuditTrail
import Logging
import LongWork
import PushHub
import RichPushModel
import ServerSettings
import ServerStorage
import ServiceErrors
import SharedAccess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the operator does with users, straight on the database, whether or not a server runs on it.
public struct UserAdministration: Sendable {
    private let settings: Settings
    /// What new password hashes cost; tests take less than the standard.
    package var passwordCost: PasswordHash.Cost = .standard

    /// Works on the data directory of these settings.
    public init(settings: Settings) { self.settings = settings }

    /// Throws `notFound` where there is no database file, for a command that asks questions first. Every other function does so too, and also
    /// for a PostgreSQL database without a node.
    public func requireNode() throws { try NodeStorage.requireData(settings) }

    /// Whether a person may have this name: those of service accounts are none.
    public static func isPerson(_ name: UserName) -> Bool { (try? RichPushBackend.personName(name.text)) != nil }

    /// How many characters a new password has at least.
    public var minimumPasswordLength: Int { settings.backend.minimumPasswordLength }

    /// Throws `invalid-field` for a password that no function here sets, without a look at the database.
    public func check(_ password: SecretText, of name: UserName) throws(ServiceError) {
        try PasswordRule(minimumLength: minimumPasswordLength).check(password.reveal(), of: name)
    }

    /// Throws `invalid-field` for a key that `createKey` and `begin` refuse, without a look at the database.
    public static func check(_ key: ServiceKeyRequest) throws(ServiceError) {
        try ServiceKeyCheck(now: SystemClock().now).check(key)
    }

    /// Adds a user. Throws `conflict` when the name is taken, with regard to case or not.
    public func add(_ name: UserName, password: SecretText, role: UserRole) async throws {
        _ = try await withBackend {
            try await $0.addUser(name: name.text, password: password.reveal(), role: role)
        }
    }

    /// Begins a node with its first administrator and its first key. Throws `conflict` where there are users, and what `add` and
    /// `createKey` throw; a failure leaves no user, so it can be repeated. Words that do not fit leave no node either.
    public func begin(
        administrator name: UserName, password: SecretText, key: ServiceKeyRequest
    ) async throws -> ServiceKeyAnswer {
        _ = try RichPushBackend.personName(name.text)
        try check(password, of: name)
        try Self.check(key)
        return try await withBackend(mayBegin: true) { backend in
            guard try await backend.users(limit: 1).isEmpty else {
                throw ServiceError(
                    .conflict,
                    "the node has users already; `clarion key create` makes a key, `clarion config reference --yaml` prints settings"
                )
            }
            _ = try await backend.addUser(name: name.text, password: password.reveal(), role: .admin)
            do { return try await backend.createKey(key) } catch {
                try? await backend.removeUser(name: name.text)
                throw error
            }
        }
    }

    /// Every user, by name.
    public func list() async throws -> [User] {
        try await withBackend { backend in
            var users: [User] = []
            while true {
                let page = try await backend.users(after: users.last?.name.text)
                users += page
                if page.isEmpty { return users }
            }
        }
    }

    /// The devices on which a user is signed in, and those that others took over, the newest first. Throws `notFound`.
    public func devices(of name: UserName) async throws -> DeviceList {
        try await withBackend { try await $0.devices(ofUser: name.text) }
    }

    /// Sets a new password, which ends the user's sessions on every device. Throws `notFound`.
    public func setPassword(_ password: SecretText, of name: UserName) async throws {
        try await withBackend { try await $0.setPassword(password.reveal(), ofUser: name.text) }
    }

    /// Removes a user's second factor for the console. Throws `notFound` when there is none.
    public func removeSecondFactor(of name: UserName) async throws {
        try await withBackend { try await $0.removeSecondFactor(ofUser: name.text) }
    }

    /// Sets a user's own quiet hours. Throws `notFound`, `invalid-field`, and `conflict` where the settings have none.
    public func setQuietHours(_ hours: String, of name: UserName) async throws {
        try await withBackend { try await $0.setQuietHours(hours, ofUser: name.text) }
    }

    /// Removes a user with their devices. Throws `notFound`.
    public func remove(_ name: UserName) async throws {
        try await withBackend { try await $0.removeUser(name: name.text) }
    }

    /// Writes everything that is stored about a user to `line`, a line of JSON at a time, and their contents to the folder if one is
    /// given, whose progress is shown then. Throws `notFound`.
    public func export(
        _ name: UserName, to folder: ExportFolder?, progress: WorkProgress = WorkProgress(), line: (String) throws -> Void
    ) async throws {
        try await withBackend { backend in
            if folder != nil {
                progress.begin("exporting contents", total: try await backend.contentBytes(ofUser: name.text))
            }
            try await backend.exportUser(name: name.text, line: line) { id, fileName, content in
                try await folder?.write(content, id: id, fileName: fileName, progress: progress)
            }
        }
    }

    /// Removes everything that is stored about a user and what they sent. Throws `notFound`.
    public func erase(_ name: UserName) async throws {
        try await withBackend { try await $0.eraseUser(name: name.text) }
    }

    /// Makes a link that signs a user in to the console, once. Throws `notFound`, and `conflict` for a user who cannot sign in.
    public func makeConsoleLink(for name: UserName) async throws -> ConsoleLink {
        try await withBackend { try await $0.makeConsoleLink(for: name.text) }
    }

    /// Creates a service key; the answer holds its secret, once. Throws `conflict` when one of this name holds.
    public func createKey(_ request: ServiceKeyRequest) async throws -> ServiceKeyAnswer {
        try await withBackend { try await $0.createKey(request) }
    }

    /// Every service key, those that ended too.
    public func keys() async throws -> [ServiceKeyAnswer] {
        try await withBackend { backend in
            var keys: [ServiceKeyAnswer] = []
            while true {
                let page = try await backend.keys(after: keys.last?.id ?? 0)
                keys += page.keys
                if page.next == nil { return keys }
            }
        }
    }

    /// Makes a new secret for a key; the old one holds for `overlap`. Throws `notFound`.
    public func rollKey(_ id: Int64, overlap: Duration) async throws -> ServiceKeyAnswer {
        try await withBackend { try await $0.rollKey(id, overlap: overlap) }
    }

    /// Ends a service key. Throws `notFound`.
    public func revokeKey(_ id: Int64) async throws { try await withBackend { try await $0.revokeKey(id) } }

    /// Sealed audit entries, newest first, at most `limit`. The reading is recorded.
    public func audit(_ filter: AuditFilter, limit: Int) async throws -> [AuditAnswer] {
        try await withBackend { backend in
            try await backend.noteAuditReading(filter, limit: limit)
            var entries: [AuditAnswer] = []
            var before: Int64?
            while entries.count < limit {
                let page = try await backend.audit.page(
                    filter, before: before, limit: min(AuditReader.pageLimit, limit - entries.count))
                entries += page.entries
                guard let next = page.next else { break }
                before = next
            }
            return entries
        }
    }

    /// Reads the whole audit and compares it with its checkpoints and with those that were kept elsewhere.
    public func verifyAudit(foreign: [AuditCheckpoint]) async throws -> AuditReport {
        try await NodeStorage.during(command: settings) { storage in
            try await AuditReader(store: storage.backendStore).verify(with: storage.auditKey.publicKey, foreign: foreign)
        }
    }

    /// The public key of the audit, and its newest checkpoint if there is one.
    public func auditKey() async throws -> (key: AuditPublicKey, checkpoint: AuditCheckpoint?) {
        try await NodeStorage.during(command: settings) { storage in
            let last = try await AuditReader(store: storage.backendStore).lastCheckpoint()
            return (storage.auditKey.publicKey, last)
        }
    }

    /// A backend for the length of one command, beside a server that may be running.
    ///
    /// - Parameter mayBegin: whether the command begins a node where there is none.
    private func withBackend<Result: Sendable>(
        mayBegin: Bool = false, _ body: (RichPushBackend) async throws -> Result
    ) async throws -> Result {
        let logger = Logger(label: "clarion", factory: { _ in SwiftLogNoOpLogHandler() })
        return try await NodeStorage.during(command: settings, mayBegin: mayBegin) { storage in
            let store = storage.backendStore
            let hasher = PasswordHasher(cost: passwordCost)
            let hub = NotificationHub(id: storage.hub, stores: storage.hubStores, clock: storage.clock, logger: logger)
            return try await body(
                RichPushBackend(
                    parts: BackendParts(
                        settings: settings.backend, clock: storage.clock, hub: hub, store: store,
                        contentStore: storage.contents.store,
                        authenticator: try await PasswordAuthenticator(
                            users: store, counts: store, hasher: hasher, clock: storage.clock),
                        hasher: hasher, logger: logger)))
        }
    }
}

/// A new folder for what is stored about one user: `records.jsonl` and their contents. Readable by its owner alone.
public struct ExportFolder: Sendable {
    private let path: String

    /// Creates the folder. Throws when there is something of this name already: an export is never mixed with another.
    public init(path: String) throws {
        self.path = path
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ServiceError(.conflict, "\(path) exists already; name a new folder")
        }
        try PrivateFile.makeFolder(path)
    }

    /// Adds a line to the records.
    public func write(line: String) throws { try append(Array((line + "\n").utf8), to: "records.jsonl") }

    /// Writes a content under its id and its own cleaned name.
    func write(_ content: ReadableContent, id: String, fileName: String?, progress: WorkProgress) async throws {
        let name = [id, fileName].compactMap { $0 }.joined(separator: "-")
        for try await chunk in content.read() {
            try append(chunk, to: name)
            progress.advance(by: Int64(chunk.count))
        }
    }

    private func append(_ bytes: [UInt8], to name: String) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ServiceError(.storageUnavailable, "\(path)/\(name) cannot be written") }
        defer { _ = close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ServiceError(.storageUnavailable, "\(path)/\(name) cannot be written") }
            rest = rest.dropFirst(count)
        }
    }
}

/// The system call, outside the type whose methods have the same name.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
