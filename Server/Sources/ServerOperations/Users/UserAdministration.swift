import AppBackend
import Logging
import PushHub
import RichPushModel
import ServerSettings
import ServerStorage
import ServiceErrors
import SharedAccess

/// What the operator does with users, straight on the database, whether or not a server runs on it.
public struct UserAdministration: Sendable {
    private let settings: Settings
    /// What new password hashes cost; tests take less than the standard.
    package var passwordCost: PasswordHash.Cost = .standard

    /// Works on the data directory of these settings.
    public init(settings: Settings) { self.settings = settings }

    /// Adds a user. Throws `conflict` when the name is taken, with regard to case or not.
    public func add(_ name: UserName, password: SecretText, role: UserRole) async throws {
        _ = try await withBackend(mayBegin: true) {
            try await $0.addUser(name: name.text, password: password.reveal(), role: role)
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

    /// Removes a user with their devices. Throws `notFound`.
    public func remove(_ name: UserName) async throws {
        try await withBackend { try await $0.removeUser(name: name.text) }
    }

    /// Writes everything that is stored about a user to `line`, a line of JSON at a time, and their contents to the folder if one is
    /// given. Throws `notFound`.
    public func export(_ name: UserName, to folder: ExportFolder?, line: (String) throws -> Void) async throws {
        try await withBackend { backend in
            try await backend.exportUser(name: name.text, line: line) { id, fileName, content in
                try await folder?.write(content, id: id, fileName: fileName)
            }
        }
    }

    /// Removes everything that is stored about a user and what they sent. Throws `notFound`.
    public func erase(_ name: UserName) async throws {
        try await withBackend { try await $0.eraseUser(name: name.text) }
    }

    /// A backend for the length of one command, beside a server that may be running.
    ///
    /// - Parameter mayBegin: whether the command makes sense where no node has ever been.
    private func withBackend<Result: Sendable>(
        mayBegin: Bool = false, _ body: (RichPushBackend) async throws -> Result
    ) async throws -> Result {
        if !mayBegin { try NodeStorage.requireData(settings) }
        let logger = Logger(label: "clarion", factory: { _ in SwiftLogNoOpLogHandler() })
        return try await NodeStorage.during(command: settings) { storage in
            let stores = storage.backendStores
            let hasher = PasswordHasher(cost: passwordCost)
            let hub = NotificationHub(id: storage.hub, stores: storage.hubStores, clock: storage.clock, logger: logger)
            return try await body(
                RichPushBackend(
                    parts: BackendParts(
                        settings: settings.backend, clock: storage.clock, hub: hub, stores: stores,
                        contentStore: storage.contents.store,
                        authenticator: try await PasswordAuthenticator(
                            users: stores.users, counts: stores.signInCounts, hasher: hasher, clock: storage.clock),
                        hasher: hasher, logger: logger)))
        }
    }
}
