import RichPushModel

/// One of those who can open a seal: an installation and its public key.
public struct SealingRecipient: Hashable, Sendable {
    public var installation: InstallationID
    public var key: SealingPublicKey

    /// Names a recipient.
    public init(installation: InstallationID, key: SealingPublicKey) {
        self.installation = installation
        self.key = key
    }
}
