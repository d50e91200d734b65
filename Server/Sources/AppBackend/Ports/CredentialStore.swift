import RichPushModel

/// Keeps one credential for each installation. Errors are `ServiceError`.
public protocol CredentialStore: Sendable {
    /// Stores a credential in place of the installation's earlier one.
    func issue(_ credential: StoredInstallationCredential) async throws

    /// The installation's credential together with its user as they are now; `nil` when either is gone.
    func credential(of installation: InstallationID) async throws -> (StoredInstallationCredential, User)?

    /// Moves the expiry, if the credential is still this one.
    func extend(_ credential: StoredInstallationCredential, until expiry: Timestamp) async throws

    /// Deletes at most `limit` credentials that expired before `moment`; returns how many.
    func removeExpired(before moment: Timestamp, limit: Int) async throws -> Int
}
