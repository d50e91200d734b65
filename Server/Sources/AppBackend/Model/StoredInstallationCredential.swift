import RichPushModel

/// What the server keeps of an installation credential.
public struct StoredInstallationCredential: Hashable, Sendable {
    public var installation: InstallationID
    public var user: UserID
    /// SHA-256 of the credential; see `InstallationCredential.digest`.
    public var digest: [UInt8]
    /// The user's credential version when it was issued; it is void under any other.
    public var credentialVersion: Int64
    public var expiresAt: Timestamp

    /// Creates a stored credential.
    public init(
        installation: InstallationID, user: UserID, digest: [UInt8], credentialVersion: Int64, expiresAt: Timestamp
    ) {
        self.installation = installation
        self.user = user
        self.digest = digest
        self.credentialVersion = credentialVersion
        self.expiresAt = expiresAt
    }
}
