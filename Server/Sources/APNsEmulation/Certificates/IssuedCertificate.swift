/// A client certificate with its key, both PEM. It opens a local APNs and nothing at Apple.
public struct IssuedCertificate: Sendable, Hashable {
    public var certificatePEM: String
    /// Secret as any private key.
    public var privateKeyPEM: String
    /// For `LocalAPNs.revokeCertificate`.
    public var serialNumber: String
}
