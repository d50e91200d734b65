import APNsProtocol
import Crypto
import LocalCertificates
import RichPushModel
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LocalCertificateAuthority {
    /// Issues a certificate for a provider, with Apple's extensions (Reference/APNs.md#2-4). Throws `LocalAPNsError` if a topic
    /// cannot be one.
    public func issueClientCertificate(
        _ request: ClientCertificateRequest, now: Timestamp = SystemClock().now
    ) throws -> IssuedCertificate {
        let topics = [request.bundleID] + request.furtherTopics
        guard let wrong = topics.first(where: { !APNsText.isTopic($0) }) else {
            return try issue(request, topics: topics, now: now)
        }
        throw LocalAPNsError.badClientCertificate(cause: "\(wrong.prefix(100)) is no topic")
    }

    private func issue(_ request: ClientCertificateRequest, topics: [String], now: Timestamp) throws -> IssuedCertificate {
        let clientKey = P256.Signing.PrivateKey()
        let name = RelativeDistinguishedName.Attribute(
            type: .RDNAttributeType.commonName, utf8String: "Apple Push Services: \(request.bundleID)")
        let subject = try DistinguishedName([AppleExtensions.userID(request.bundleID), name])
        let day = Duration.seconds(86_400)
        let serialNumber = Certificate.SerialNumber()
        let leaf = try Certificate(
            version: .v3, serialNumber: serialNumber, publicKey: .init(clientKey.publicKey),
            notValidBefore: (request.notBefore ?? now - day).date, notValidAfter: (request.notAfter ?? now + day * 365).date,
            issuer: certificate.subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Self.extensions(request.environments, topics: topics), issuerPrivateKey: .init(key))
        return IssuedCertificate(
            certificatePEM: try leaf.serializeAsPEM().pemString, privateKeyPEM: clientKey.pemRepresentation,
            serialNumber: CertificateSerialNumber.text(of: serialNumber.bytes))
    }

    private static func extensions(
        _ environments: Set<APNsEnvironment>, topics: [String]
    ) throws -> Certificate.Extensions {
        var extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.clientAuth])
        }
        if environments.contains(.sandbox) { try extensions.append(AppleExtensions.development) }
        if environments.contains(.production) { try extensions.append(AppleExtensions.production) }
        try extensions.append(AppleExtensions.topics(topics.map { (topic: $0, kind: TopicName($0).kind) }))
        return extensions
    }

    /// Reads a certificate that a client showed. `nil` if this authority did not sign it or it names no app.
    func read(_ bytes: [UInt8]) -> ClientCertificate? {
        guard let shown = try? Certificate(derEncoded: bytes), shown.issuer == certificate.subject,
            certificate.publicKey.isValidSignature(shown.signature, for: shown)
        else { return nil }
        return ClientCertificate(shown)
    }
}
