import NIOSSL

extension NIOSSLContext {
    /// TLS for APNs (Reference/APNs.md#1-3): 1.2 or later, `h2` offered, the whole chain and the name verified.
    convenience init(
        apns trust: APNsClientConfiguration.Trust, credential: APNsClientConfiguration.Credential
    ) throws(APNsConfigurationFault) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .fullVerification
        if case .additional(let pem) = trust {
            guard let roots = try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)), !roots.isEmpty else { throw .trustRoots }
            tls.additionalTrustRoots = [.certificates(roots)]
        }
        if case .certificate(let chain, let key) = credential {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)), !certificates.isEmpty else {
                throw .certificateChain
            }
            guard let privateKey = try? NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem) else { throw .certificateKey }
            tls.certificateChain = certificates.map { .certificate($0) }
            tls.privateKey = .privateKey(privateKey)
        }
        do { try self.init(configuration: tls) } catch { throw .tls }
    }
}
