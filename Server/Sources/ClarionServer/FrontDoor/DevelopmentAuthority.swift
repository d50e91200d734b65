import Crypto
import RichPushModel
import ServiceErrors
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A certificate authority of this node alone (P-256), so that clients can speak TLS to it before there is a certificate of a real one.
struct DevelopmentAuthority: Sendable {
    /// How long a certificate of it is valid: what systems accept at most.
    static let validity = Duration.seconds(397 * 86_400)

    let certificatePEM: String
    let keyPEM: String
    private let certificate: Certificate
    private let key: P256.Signing.PrivateKey

    /// Makes an authority that is valid for ten years.
    static func create(now: Timestamp) throws -> DevelopmentAuthority {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName {
            OrganizationName("Clarion")
            CommonName("Clarion development authority")
        }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: date(now - .seconds(86_400)), notValidAfter: date(now + .seconds(3650 * 86_400)), issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key))
        return try DevelopmentAuthority(certificate: certificate, key: key)
    }

    /// Reads an authority that was kept; `nil` when the texts are none or do not belong together.
    init?(certificatePEM: String, keyPEM: String) {
        guard let certificate = try? Certificate(pemEncoded: certificatePEM),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: keyPEM),
            certificate.publicKey == Certificate.PublicKey(key.publicKey)
        else { return nil }
        try? self.init(certificate: certificate, key: key)
    }

    private init(certificate: Certificate, key: P256.Signing.PrivateKey) throws {
        self.certificate = certificate
        self.key = key
        certificatePEM = try certificate.serializeAsPEM().pemString
        keyPEM = key.pemRepresentation
    }

    /// A server certificate for names and addresses, with a key of its own.
    func issue(names: [String], now: Timestamp) throws -> (chainPEM: String, keyPEM: String) {
        let leafKey = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName("Clarion") }
        let alternatives = SubjectAlternativeNames(names.map(Self.name))
        let leaf = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(leafKey.publicKey),
            notValidBefore: Self.date(now - .seconds(86_400)), notValidAfter: Self.date(now + Self.validity),
            issuer: certificate.subject,
            subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                alternatives
            },
            issuerPrivateKey: .init(key))
        return (try leaf.serializeAsPEM().pemString, leafKey.pemRepresentation)
    }

    private static func name(_ text: String) -> GeneralName {
        AddressRange.bytes(ofAddress: text).map { .ipAddress(.init(contentBytes: $0[...])) } ?? .dnsName(text)
    }

    private static func date(_ moment: Timestamp) -> Date { Date(timeIntervalSince1970: Double(moment.seconds)) }
}
