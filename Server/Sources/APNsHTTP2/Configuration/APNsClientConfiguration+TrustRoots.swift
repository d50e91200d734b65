import NIOSSL

extension APNsClientConfiguration.Trust {
    /// Whether `additional` takes the text: PEM, with at least one certificate.
    public static func isFit(pem: String) -> Bool {
        (try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))?.isEmpty == false
    }
}
