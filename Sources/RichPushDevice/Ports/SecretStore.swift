/// Where secrets live: on Apple's systems the key chain, after first unlock, on this device only.
public protocol SecretStore: Sendable {
    /// The secret, or `nil` if there is none or this process may not read it.
    func secret(_ key: SecretKey) throws(StorageError) -> String?
    /// Keeps a secret in place of an older one.
    func setSecret(_ secret: String, for key: SecretKey) throws(StorageError)
    /// Forgets a secret; no error if there is none.
    func removeSecret(_ key: SecretKey) throws(StorageError)
}

/// The secrets of a device.
public enum SecretKey: String, Sendable, CaseIterable {
    /// The stable name of this installation. It survives a sign-out.
    case installationID = "installation-id"
    /// Whether one user or several have been signed in here: a digest of the only one's name with the installation's, or a word
    /// for several. It survives a sign-out, and says nothing to whoever does not know both names.
    case servedUser = "served-user"
    /// The narrow credential that reads content and posts receipts.
    case credential
    /// The user's password, kept only if the app asked for it because it sends pushes itself.
    case password
    /// A sign-out that the server has not heard of yet, with the credential that authorises it.
    case revocation
    /// Sign-ins of which it is not known whether the server has heard them, with the passwords that undo them.
    case unconfirmedSignIn = "unconfirmed-sign-in"
    /// The private key for which senders seal. It ends with the session, and is of no use elsewhere.
    case sealingKey = "sealing-key"

    /// Whether the service extension may not read it. On Apple's systems such a secret lies outside the shared access group.
    public var isForAppOnly: Bool {
        switch self {
        case .installationID, .credential, .sealingKey: false
        case .password, .revocation, .unconfirmedSignIn, .servedUser: true
        }
    }
}
