/// Says who gave a user name and a password. Local passwords are one way; others come behind the same port.
public protocol UserAuthenticator: Sendable {
    /// The user. Throws `ServiceError`: `unauthenticated`, `too-many-attempts`, `overloaded`.
    func authenticate(user: String, password: String, from source: SourceAddress) async throws -> User

    /// Forgets what was verified before for anybody, after a password change on this node.
    func forget()
}
