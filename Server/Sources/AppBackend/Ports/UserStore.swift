import PushHub
import RichPushModel
import SharedAccess

/// Keeps the users of one app. Errors are `ServiceError`.
public protocol UserStore: Sendable {
    /// Creates a user with credential version 1. Throws `conflict` when the name is taken, without regard to case.
    func create(name: UserName, role: UserRole, password: PasswordHash?, at now: Timestamp) async throws -> User

    /// The user of this name, without regard to case.
    func user(named name: UserName) async throws -> StoredUser?

    /// The user of this number.
    func user(_ id: UserID) async throws -> User?

    /// Replaces the password, counts the credential version up and deletes the user's installation credentials, in one
    /// transaction. Whether there was such a user.
    func setPassword(_ password: PasswordHash, of id: UserID) async throws -> Bool

    /// Replaces the hash of a password by another of the same password, if it is stored still. Sessions and the credential version
    /// stay. Whether it was.
    func replaceHash(_ old: PasswordHash, with new: PasswordHash, of id: UserID) async throws -> Bool

    /// Replaces the role. Whether there was such a user.
    func setRole(_ role: UserRole, of id: UserID) async throws -> Bool

    /// Users in the order of their folded names, after `name`.
    func users(after name: UserName?, limit: Int) async throws -> [User]

    /// Removes a user, closes their bindings and deletes their credentials, in one transaction. Returns the records whose
    /// bindings were closed, each noted as a change that has begun, or `nil` when there was no such user. The number is never used again.
    func remove(_ id: UserID, mark: Int64, at now: Timestamp) async throws -> [RecordID]?
}
