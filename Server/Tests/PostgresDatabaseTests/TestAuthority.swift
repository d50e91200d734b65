import ClarionTesting
import Crypto
import Foundation
import X509

/// An authority made for one test, and what it vouches for.
struct TestAuthority {
    private let key = P256.Signing.PrivateKey()
    private let name: DistinguishedName
    /// The certificate that clients trust.
    let certificatePEM: String

    init(_ name: String) throws {
        self.name = try DistinguishedName { CommonName(name) }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600), issuer: self.name,
            subject: self.name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
            },
            issuerPrivateKey: .init(key))
        certificatePEM = try certificate.serializeAsPEM().pemString
    }

    /// A key and its certificate for a server that is reached by this name.
    func listener(for host: String) throws -> ThrowAwayPostgreSQL.SecureListener {
        let serverKey = P256.Signing.PrivateKey()
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(serverKey.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3600), notValidAfter: Date(timeIntervalSinceNow: 3600), issuer: name,
            subject: try DistinguishedName { CommonName(host) }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                SubjectAlternativeNames([.dnsName(host)])
            },
            issuerPrivateKey: .init(key))
        return ThrowAwayPostgreSQL.SecureListener(
            certificate: try certificate.serializeAsPEM().pemString, key: serverKey.pemRepresentation)
    }
}
