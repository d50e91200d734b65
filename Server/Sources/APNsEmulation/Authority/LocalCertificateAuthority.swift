import Crypto
import RichPushModel
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A certificate authority for the names of the local APNs alone (P-256). Keep its two PEM texts to keep its trust.
public struct LocalCertificateAuthority: Sendable {
    /// What clients trust.
    public let certificatePEM: String
    /// Secret: whoever has it can impersonate any name to those clients.
    public let privateKeyPEM: String

    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    /// Makes an authority that is valid for ten years.
    public static func create(now: Timestamp = SystemClock().now) throws -> LocalCertificateAuthority {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName {
            OrganizationName("Clarion")
            CommonName("Clarion local APNs authority")
        }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: now.date(addingDays: -1), notValidAfter: now.date(addingDays: 3_650), issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key))
        return try LocalCertificateAuthority(certificate: certificate, key: key)
    }

    /// Reads an authority that was kept. Throws `LocalAPNsError.badAuthority`.
    public static func load(certificatePEM: String, privateKeyPEM: String) throws -> LocalCertificateAuthority {
        let certificate: Certificate
        let key: P256.Signing.PrivateKey
        do {
            certificate = try Certificate(pemEncoded: certificatePEM)
            key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
        } catch {
            throw LocalAPNsError.badAuthority(cause: "certificate or key is not PEM of a P-256 authority")
        }
        guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
            throw LocalAPNsError.badAuthority(cause: "certificate and key do not belong together")
        }
        return try LocalCertificateAuthority(certificate: certificate, key: key)
    }

    private init(certificate: Certificate, key: P256.Signing.PrivateKey) throws {
        self.certificate = certificate
        self.key = key
        certificatePEM = try certificate.serializeAsPEM().pemString
        privateKeyPEM = key.pemRepresentation
    }

    /// A server certificate for `localhost`, both loopback addresses and these names, valid for 397 days.
    func issueLeaf(names: [String], now: Timestamp) throws -> (certificatePEM: String, privateKeyPEM: String) {
        let leafKey = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName("Clarion local APNs") }
        let alternatives = Self.alternativeNames(names)
        let leaf = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(leafKey.publicKey),
            notValidBefore: now.date(addingDays: -1), notValidAfter: now.date(addingDays: 397), issuer: certificate.subject,
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

    private static func alternativeNames(_ names: [String]) -> SubjectAlternativeNames {
        var alternatives: [GeneralName] = []
        for name in ["localhost", "127.0.0.1", "::1"] + names {
            if let address = IPAddressBytes.parse(name) {
                alternatives.append(.ipAddress(.init(contentBytes: address[...])))
            } else {
                alternatives.append(.dnsName(name))
            }
        }
        return SubjectAlternativeNames(alternatives)
    }
}

extension Timestamp {
    /// The same moment for the certificate library.
    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    fileprivate func date(addingDays days: Int) -> Date {
        Date(timeIntervalSince1970: Double(seconds) + Double(days) * 86_400)
    }
}
