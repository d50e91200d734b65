/// A client certificate with its key, both PEM. It opens a local APNs and nothing at Apple.
public struct IssuedCertificate: Sendable, Hashable {
    public var certificatePEM: String
    /// Secret as any private key.
    public var privateKeyPEM: String
    /// For `LocalAPNs.revokeCertificate`, as `openssl x509 -serial` prints it.
    public var serialNumber: String
}
