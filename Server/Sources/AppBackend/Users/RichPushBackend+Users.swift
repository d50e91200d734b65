import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

/// Management of users. The command line and the HTTP layer call these; the latter only for a principal of role `admin`.
extension RichPushBackend {
    /// Creates a user. Throws `invalid-field` for a bad name or a password that `PasswordRule` refuses, `conflict` for a taken name.
    @discardableResult
    public func addUser(name: String, password: String, role: UserRole) async throws -> User {
        guard let userName = UserName(name) else {
            throw ServiceError(.invalidField, "name: a user name has 1 to 64 of A-Z a-z 0-9 _ @ . -")
        }
        let hash = try await hash(password, of: userName)
        do {
            return try await parts.stores.users.create(name: userName, role: role, password: hash, at: parts.clock.now)
        } catch let error as ServiceError where error.code == .conflict {
            throw ServiceError(.conflict, "there is a user of this name already")
        }
    }

    /// Sets a password; every installation credential of the user is void, and the devices are signed out: their phones could
    /// not do that any more.
    ///
    /// Throws `not-found`; `invalid-field` as `addUser` does; and what the hub throws when the password is changed and a device
    /// could not be signed out: a repeat does the rest.
    public func setPassword(_ password: String, ofUser name: String) async throws {
        let user = try await user(name)
        guard try await parts.stores.users.setPassword(try await hash(password, of: user.name), of: user.id) else {
            throw Self.noUser
        }
        parts.authenticator.forget()
        bearers.forget()
        do { try await signOutDevices(of: user.id) } catch let error as ServiceError {
            throw ServiceError(
                error.code, "the password is changed, but a device is not signed out yet; set it again (\(error.detail ?? ""))")
        }
    }

    /// Those without a credential: who has signed in with the new password meanwhile stays.
    private func signOutDevices(of user: UserID) async throws {
        let bindings = try await parts.stores.bindings.bindings(of: user, since: .last, limit: Self.bindingLimit)
        for binding in bindings where binding.until == nil {
            try await parts.signOut(
                binding.device.record, of: user, ifStill: BindingState(binding: binding.number, credential: nil))
        }
    }

    /// Sets a role; it counts within five seconds on every node. Throws `not-found`.
    public func setRole(_ role: UserRole, ofUser name: String) async throws {
        guard try await parts.stores.users.setRole(role, of: try await user(name).id) else { throw Self.noUser }
        parts.authenticator.forget()
        bearers.forget()
    }

    /// The users in the order of their names, after `name`, at most `limit` (1 … 1,000).
    public func users(after name: String? = nil, limit: Int = 1000) async throws -> [User] {
        try await parts.stores.users.users(after: name.flatMap { UserName($0) }, limit: min(max(limit, 1), 1000))
    }

    /// Removes a user with their devices and credentials. What they sent stays. Throws `not-found`.
    public func removeUser(name: String) async throws {
        let id = try await user(name).id
        // The hub first, as in signing out: a removal that is cut off can be repeated, and no device hears of it meanwhile.
        let bindings = try await parts.stores.bindings.bindings(of: id, since: .last, limit: Self.bindingLimit)
        for binding in bindings where binding.until == nil { _ = try await parts.hub.removeDevice(binding.device.record) }
        let mark = DeviceChange.newMark()
        guard let records = try await parts.stores.users.remove(id, mark: mark, at: parts.clock.now) else {
            throw Self.noUser
        }
        parts.authenticator.forget()
        bearers.forget()
        for record in records { try await parts.synchronise(record, in: DeviceChange(record, mark: mark)) }
    }

    private static let noUser = ServiceError(.notFound, "there is no user of this name")

    func user(_ name: String) async throws -> User {
        guard let userName = UserName(name), let stored = try await parts.stores.users.user(named: userName) else {
            throw Self.noUser
        }
        return stored.user
    }

    private func hash(_ password: String, of user: UserName) async throws -> PasswordHash {
        try PasswordRule(minimumLength: parts.settings.minimumPasswordLength).check(password, of: user)
        do { return try await parts.hasher.hash(password) } catch { throw error.serviceError }
    }
}
