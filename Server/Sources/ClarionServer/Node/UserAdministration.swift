import RichPushModel
import ServiceErrors

/// What the operator does with users, straight on the database, whether or not a server runs on it.
public struct UserAdministration: Sendable {
    private let settings: Settings

    /// Works on the data directory of these settings.
    public init(settings: Settings) { self.settings = settings }

    /// One line of `clarion user list`.
    public struct Listed: Hashable, Sendable {
        public var name: UserName
        public var roles: [String]
        public var createdAt: Timestamp

        /// Creates a line.
        public init(name: UserName, roles: [String], createdAt: Timestamp) {
            self.name = name
            self.roles = roles
            self.createdAt = createdAt
        }
    }

    /// Adds a user. Throws `conflict` when the name is taken, with regard to case or not.
    public func add(_ name: UserName, password: SecretText, roles: [String]) async throws {
        throw ServiceError(.notReady, "not composed yet")
    }

    /// Every user, by name.
    public func list() async throws -> [Listed] { throw ServiceError(.notReady, "not composed yet") }

    /// Sets a new password, which ends the user's sessions on every device. Throws `notFound`.
    public func setPassword(_ password: SecretText, of name: UserName) async throws {
        throw ServiceError(.notReady, "not composed yet")
    }

    /// Removes a user with their devices. Throws `notFound`.
    public func remove(_ name: UserName) async throws { throw ServiceError(.notReady, "not composed yet") }
}
