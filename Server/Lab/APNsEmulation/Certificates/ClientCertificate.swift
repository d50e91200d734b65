import APNsProtocol
import Crypto
import LocalCertificates
import RichPushModel
import WireText
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A provider's certificate, as far as APNs looks at it (Reference/APNs.md#2-4).
struct ClientCertificate: Sendable, Hashable {
    /// The UID of the subject.
    var bundleID: String
    /// The topics of the extension; the bundle id alone where there is none.
    var topics: [String]
    var environments: Set<APNsEnvironment>
    var notBefore: Timestamp
    var notAfter: Timestamp
    var serialNumber: String

    /// The topic of a request without `apns-topic`; `nil` if it has to say.
    var onlyTopic: String? { topics.count == 1 ? topics.first : nil }

    func isValid(at moment: Timestamp) -> Bool { notBefore <= moment && moment <= notAfter }

    /// `nil` if the certificate names no bundle id or its topics cannot be read.
    init?(_ certificate: Certificate) {
        let names = certificate.subject.flatMap { $0 }
        let userID = AppleExtensions.userID("").type
        guard let name = names.first(where: { $0.type == userID }), let bundleID = String(name.value) else { return nil }
        self.bundleID = bundleID
        var environments: Set<APNsEnvironment> = []
        var topics = [bundleID]
        let listOfTopics = AppleExtensions.topics([]).oid
        for mark in certificate.extensions {
            switch mark.oid {
            case AppleExtensions.development.oid: environments.insert(.sandbox)
            case AppleExtensions.production.oid: environments.insert(.production)
            case listOfTopics:
                guard let listed = APNsCertificateMarks.topics(in: mark.value) else { return nil }
                topics = listed
            default: break
            }
        }
        self.environments = environments
        self.topics = topics
        notBefore = Timestamp(certificate.notValidBefore)
        notAfter = Timestamp(certificate.notValidAfter)
        serialNumber = CertificateSerialNumber.text(of: certificate.serialNumber.bytes)
    }
}

extension Timestamp {
    fileprivate init(_ date: Date) { self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1_000).rounded(.down))) }
}

/// What a client certificate of the local authority is to say.
public struct ClientCertificateRequest: Sendable, Hashable {
    /// The app; becomes the UID of the subject.
    public var bundleID: String
    /// Both for a "Sandbox & Production" certificate, none for one that no environment takes.
    public var environments: Set<APNsEnvironment>
    /// Topics beyond the bundle id. With one topic `apns-topic` may be left out, with several it may not
    /// (Reference/APNs.md#2-4).
    public var furtherTopics: [String]
    /// When it begins to be valid; `nil` is a day ago.
    public var notBefore: Timestamp?
    /// When it ends; `nil` is in a year, as Apple's do.
    public var notAfter: Timestamp?

    /// Creates a request; by default for both environments and the app's own topic alone.
    public init(
        bundleID: String, environments: Set<APNsEnvironment> = [.sandbox, .production], furtherTopics: [String] = [],
        notBefore: Timestamp? = nil, notAfter: Timestamp? = nil
    ) {
        self.bundleID = bundleID
        self.environments = environments
        self.furtherTopics = furtherTopics
        self.notBefore = notBefore
        self.notAfter = notAfter
    }
}

/// A client certificate with its key, both PEM. It opens a local APNs and nothing at Apple.
public struct IssuedCertificate: Sendable, Hashable {
    public var certificatePEM: String
    /// Secret as any private key.
    public var privateKeyPEM: String
    /// For `LocalAPNs.revokeCertificate`, as `openssl x509 -serial` prints it.
    public var serialNumber: String
}

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

/// The extensions with which Apple marks push certificates (Reference/APNs.md#2-4), and the little DER that they need.
enum AppleExtensions {
    /// For the sandbox.
    static let development = Certificate.Extension(
        oid: [1, 2, 840, 113_635, 100, 6, 3, 1], critical: false, value: null)
    /// For production.
    static let production = Certificate.Extension(
        oid: [1, 2, 840, 113_635, 100, 6, 3, 2], critical: false, value: null)

    private static let null: ArraySlice<UInt8> = [0x05, 0x00]

    /// The list of topics.
    static func topics(_ topics: [(topic: String, kind: String)]) -> Certificate.Extension {
        Certificate.Extension(
            oid: [1, 2, 840, 113_635, 100, 6, 3, 6], critical: false, value: encodeTopics(topics)[...])
    }

    /// UID in the subject: the bundle id.
    static func userID(_ bundleID: String) -> RelativeDistinguishedName.Attribute {
        .init(type: [0, 9, 2_342, 19_200_300, 100, 1, 1], utf8String: bundleID)
    }

    /// SEQUENCE of alternating UTF8String topic and SEQUENCE { UTF8String kind }.
    static func encodeTopics(_ topics: [(topic: String, kind: String)]) -> [UInt8] {
        let content = topics.flatMap { entry in
            element(0x0C, Array(entry.topic.utf8)) + element(0x30, element(0x0C, Array(entry.kind.utf8)))
        }
        return element(0x30, content)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<128: [tag, UInt8(content.count)] + content
        case ..<256: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
        }
    }
}

/// The serial number of a certificate as `openssl x509 -serial` prints it: two upper-case hexadecimal digits a byte.
enum CertificateSerialNumber {
    static func text(of bytes: some Sequence<UInt8>) -> String {
        Hexadecimal.text(of: bytes, uppercase: true)
    }

    /// One form for every way to write the same number: capital or small letters, with or without colons, leading zeros and
    /// the prefix that openssl prints. `nil` for what is no number of at most 20 bytes (RFC 5280, 4.1.2.2).
    static func canonical(_ text: String) -> String? {
        var digits = ""
        let number = text.lowercased().hasPrefix("serial=") ? text.dropFirst(7) : text[...]
        let parts = number.split(separator: ":", omittingEmptySubsequences: false)
        for part in parts {
            guard !part.isEmpty, part.utf8.allSatisfy(APNsText.isHex) else { return nil }
            guard parts.count == 1 || part.utf8.count <= 2 else { return nil }
            digits += parts.count > 1 && part.utf8.count == 1 ? "0" + part : part
        }
        let significant = digits.uppercased().drop { $0 == "0" }
        guard significant.utf8.count <= 40 else { return nil }
        return significant.isEmpty ? "0" : String(significant)
    }
}
