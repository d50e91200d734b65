import APNsProtocol
import RichPushModel
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
