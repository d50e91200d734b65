import Crypto
import NIOCore
import RichPushModel
import WireText
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A certificate authority of this machine alone (P-256): for the local APNs, and for a server that has no certificate of a real
/// authority yet. Keep its two PEM texts to keep its trust.
public struct LocalCertificateAuthority: Sendable {
    /// What clients trust.
    public let certificatePEM: String
    /// Secret: its holder can impersonate any name to those clients.
    public let privateKeyPEM: String

    /// How long a certificate of it is valid: what systems accept at most.
    public static let validity = Duration.seconds(397 * 86_400)

    package let certificate: Certificate
    package let key: P256.Signing.PrivateKey

    /// Makes an authority that is valid for ten years. The start of its key's digest ends its name: trust stores find an authority by its
    /// subject, and two with one subject hide each other (RFC 5280, 4.1.2.6).
    public static func create(
        named name: String = "Clarion local APNs authority", now: Timestamp = SystemClock().now
    ) throws -> LocalCertificateAuthority {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName {
            OrganizationName("Clarion")
            CommonName("\(name) \(Self.mark(of: key))")
        }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: (now - .seconds(86_400)).date, notValidAfter: (now + .seconds(3650 * 86_400)).date, issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key))
        return try LocalCertificateAuthority(certificate: certificate, key: key)
    }

    /// Eight hexadecimal digits that distinguish authorities.
    private static func mark(of key: P256.Signing.PrivateKey) -> String {
        Hexadecimal.text(of: SHA256.hash(data: key.publicKey.rawRepresentation).prefix(4), uppercase: true)
    }

    /// Reads an authority that was kept. Throws `LocalAuthorityError`.
    public static func load(certificatePEM: String, privateKeyPEM: String) throws -> LocalCertificateAuthority {
        let certificate: Certificate
        let key: P256.Signing.PrivateKey
        do {
            certificate = try Certificate(pemEncoded: certificatePEM)
            key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
        } catch {
            throw LocalAuthorityError(cause: "certificate or key is not PEM of a P-256 authority")
        }
        guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
            throw LocalAuthorityError(cause: "certificate and key do not belong together")
        }
        return try LocalCertificateAuthority(certificate: certificate, key: key)
    }

    private init(certificate: Certificate, key: P256.Signing.PrivateKey) throws {
        self.certificate = certificate
        self.key = key
        certificatePEM = try certificate.serializeAsPEM().pemString
        privateKeyPEM = key.pemRepresentation
    }

    /// A server certificate for these names and addresses, with a key of its own.
    public func issueServerCertificate(
        names: [String], subject: String, now: Timestamp
    ) throws -> (certificatePEM: String, privateKeyPEM: String) {
        let leafKey = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName(subject) }
        let alternatives = SubjectAlternativeNames(names.map(Self.alternativeName))
        let leaf = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(leafKey.publicKey),
            notValidBefore: (now - .seconds(86_400)).date, notValidAfter: (now + Self.validity).date,
            issuer: certificate.subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                alternatives
            },
            issuerPrivateKey: .init(key))
        return (try leaf.serializeAsPEM().pemString, leafKey.pemRepresentation)
    }

    private static func alternativeName(_ name: String) -> GeneralName {
        bytes(ofAddress: name).map { .ipAddress(.init(contentBytes: $0[...])) } ?? .dnsName(name)
    }

    /// An address as a certificate holds it: 4 or 16 bytes; `nil` if the text is no address.
    private static func bytes(ofAddress text: String) -> [UInt8]? {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        case .v4(let v4): return withUnsafeBytes(of: v4.address.sin_addr) { Array($0) }
        case .v6(let v6): return withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: return nil
        }
    }
}

/// Stored PEM that cannot be read as an authority. The text holds no secret.
public struct LocalAuthorityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let cause: String

    /// Creates an error.
    public init(cause: String) { self.cause = cause }

    public var description: String { "The stored certificate authority cannot be read: \(cause)." }
}

extension Timestamp {
    /// The same moment for the certificate library.
    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
