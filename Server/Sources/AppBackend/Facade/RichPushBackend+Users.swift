import RichPushModel
import ServiceErrors

/// Management of users. The command line and the HTTP layer call these; the latter only for a principal of role `admin`.
extension RichPushBackend {
    /// Creates a user. Throws `invalid-field` for a bad name or password (8 to 1,024 bytes), `conflict` for a taken name.
    @discardableResult
    public func addUser(name: String, password: String, role: UserRole) async throws -> User {
        throw ServiceError(.notReady)
    }

    /// Sets a password; every installation credential of the user is void. Throws `not-found`.
    public func setPassword(_ password: String, ofUser name: String) async throws {
        throw ServiceError(.notReady)
    }

    /// Sets a role; it counts within five seconds on every node. Throws `not-found`.
    public func setRole(_ role: UserRole, ofUser name: String) async throws {
        throw ServiceError(.notReady)
    }

    /// The users in the order of their names, after `name`, at most `limit` (1 … 1,000).
    public func users(after name: String? = nil, limit: Int = 1000) async throws -> [User] {
        throw ServiceError(.notReady)
    }

    /// Removes a user with their devices and credentials. Throws `not-found`.
    public func removeUser(name: String) async throws {
        throw ServiceError(.notReady)
    }
}
