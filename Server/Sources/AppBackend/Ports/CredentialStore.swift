import RichPushModel

/// Keeps one credential for each installation. Errors are `ServiceError`.
public protocol CredentialStore: Sendable {
    /// Stores a credential in place of the installation's earlier one.
    func issue(_ credential: StoredInstallationCredential) async throws

    /// The installation's credential together with its user as they are now; `nil` when either is gone.
    func credential(of installation: InstallationID) async throws -> (StoredInstallationCredential, User)?

    /// Moves the expiry, if the credential is still this one.
    func extend(_ credential: StoredInstallationCredential, until expiry: Timestamp) async throws

    /// Credentials that expired before `moment`, the oldest first, at most `limit`.
    func expired(before moment: Timestamp, limit: Int) async throws -> [StoredInstallationCredential]

    /// Deletes a credential, if it is still this one with this expiry.
    func remove(_ credential: StoredInstallationCredential) async throws
}
