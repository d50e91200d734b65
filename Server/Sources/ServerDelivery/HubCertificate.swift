import APNsProtocol
import FCMProtocol
import NIOSSL
import PushHub
import RichPushModel
import ServiceErrors
import WebPushProtocol
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A client certificate for APNs with its key, read from what an owner gave: PEM, or PKCS #12 as a Mac exports it.
struct HubCertificate {
    /// The chain in PEM, the certificate itself first.
    let chainPEM: String
    /// Its key in PEM. Secret.
    let keyPEM: String
    /// The bundle id: as given, else as the certificate names it.
    let topic: String

    /// Throws `invalidField` with what is wrong; nothing of the key is in it.
    init(_ credential: HubAPNsCredential, at now: Timestamp) throws(ServiceError) {
        guard case .certificate(let data, let password) = credential.identity else {
            throw ServiceError(.invalidField, "the credential is no certificate")
        }
        let parts = try Self.isPEM(data) ? Self.pem(data) : Self.bundle(data, password)
        guard let first = parts.chain.first, let der = try? first.toDERBytes(),
            let certificate = try? Certificate(derEncoded: der)
        else {
            throw ServiceError(.invalidField, "the certificate cannot be read")
        }
        guard let topic = credential.topic ?? Self.userID(of: certificate) else {
            throw ServiceError(.invalidField, "the certificate names no app; give the bundle id as well")
        }
        chainPEM = try parts.chain.map { certificate throws(ServiceError) in
            guard let der = try? certificate.toDERBytes() else { throw ServiceError(.invalidField, "the chain cannot be read") }
            return Self.block("CERTIFICATE", der)
        }.joined()
        keyPEM = parts.keyPEM
        self.topic = topic
        try Self.check(certificate, topic: topic, environment: credential.environment, at: now)
        try checkPair()
    }

    /// What APNs would refuse each push for (Reference/APNs.md#2-4): another app, another environment, or an end that has come.
    private static func check(
        _ certificate: Certificate, topic: String, environment: HubAPNsCredential.Environment, at now: Timestamp
    ) throws(ServiceError) {
        if let listed = mark(6, of: certificate).flatMap({ APNsCertificateMarks.topics(in: $0.value) }), !listed.contains(topic) {
            throw ServiceError(.invalidField, "the certificate is for \(listed.joined(separator: ", ")), not for \(topic)")
        }
        let sandbox = mark(1, of: certificate) != nil
        let production = mark(2, of: certificate) != nil
        if sandbox != production, sandbox != (environment == .sandbox) {
            throw ServiceError(
                .invalidField, "the certificate is for the \(sandbox ? "sandbox" : "production") environment alone")
        }
        if certificate.notValidAfter.timeIntervalSince1970 < Double(now.seconds) {
            throw ServiceError(.invalidField, "the certificate has ended; get a new one from Apple")
        }
    }

    /// Apple's extension of this number: 1 for the sandbox, 2 for production, 6 with the topics.
    private static func mark(_ number: UInt, of certificate: Certificate) -> Certificate.Extension? {
        certificate.extensions[oid: [1, 2, 840, 113_635, 100, 6, 3, number]]
    }

    /// Certificate and key belong together, or TLS would fail at the first push.
    private func checkPair() throws(ServiceError) {
        var tls = TLSConfiguration.makeClientConfiguration()
        // No server is verified here, and a minimal system has no roots for that.
        tls.certificateVerification = .none
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(chainPEM.utf8)),
            let key = try? NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
        else { throw ServiceError(.invalidField, "certificate or key cannot be read") }
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(key)
        guard (try? NIOSSLContext(configuration: tls)) != nil else {
            throw ServiceError(.invalidField, "certificate and key do not belong together")
        }
    }

    private static func isPEM(_ data: [UInt8]) -> Bool {
        String(validating: data, as: UTF8.self)?.contains("-----BEGIN ") == true
    }

    private static func pem(_ data: [UInt8]) throws(ServiceError) -> (chain: [NIOSSLCertificate], keyPEM: String) {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(data), !chain.isEmpty else {
            throw ServiceError(.invalidField, "the file holds no certificate")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: data, format: .pem), let pem = keyPEM(key) else {
            throw ServiceError(.invalidField, "the file holds no private key that is not encrypted")
        }
        return (chain, pem)
    }

    private static func bundle(
        _ data: [UInt8], _ password: String?
    ) throws(ServiceError) -> (chain: [NIOSSLCertificate], keyPEM: String) {
        guard let bundle = try? NIOSSLPKCS12Bundle(buffer: data, passphrase: (password ?? "").utf8),
            !bundle.certificateChain.isEmpty,
            let pem = keyPEM(bundle.privateKey)
        else { throw ServiceError(.invalidField, "the file is neither PEM nor PKCS #12, or its password is another") }
        return (bundle.certificateChain, pem)
    }

    /// The key's own form is that of its kind; which one it is shows when it is read back.
    private static func keyPEM(_ key: NIOSSLPrivateKey) -> String? {
        guard let der = try? key.derBytes else { return nil }
        return ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"].lazy.map { block($0, der) }
            .first { (try? NIOSSLPrivateKey(bytes: Array($0.utf8), format: .pem)) != nil }
    }

    private static func block(_ label: String, _ der: [UInt8]) -> String {
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }

    /// The UID of the subject, where Apple writes the bundle id (Reference/APNs.md#2-4).
    private static func userID(of certificate: Certificate) -> String? {
        certificate.subject.flatMap { $0 }.first { $0.type == [0, 9, 2_342, 19_200_300, 100, 1, 1] }.flatMap { String($0.value) }
    }
}

/// Looks at a credential before it is stored, so that a mistake is the owner's answer now and not a send that does not leave.
public enum HubCredentialCheck {
    /// Throws `invalidField` with what is wrong; nothing of the credential is in it.
    public static func check(_ credential: HubCredential, at now: Timestamp = SystemClock().now) throws(ServiceError) {
        switch credential {
        case .apns(let credential): try check(credential, at: now)
        case .browser(let credential): _ = try VAPIDIdentity(credential)
        case .fcm(let credential): try check(credential)
        }
    }

    private static func check(_ credential: HubAPNsCredential, at now: Timestamp) throws(ServiceError) {
        switch credential.identity {
        case .token(let key, let keyID, let teamID):
            guard let topic = credential.topic, !topic.isEmpty else {
                throw ServiceError(.invalidField, "a signing key needs the bundle id of the app as well")
            }
            guard isBundleID(topic) else {
                throw ServiceError(.invalidField, "the topic is not a bundle id such as com.example.app")
            }
            do throws(ProviderTokenKeyFault) {
                _ = try ProviderTokenKey(pem: key, keyID: keyID, teamID: teamID)
            } catch {
                throw ServiceError(.invalidField, "the signing key: \(error)")
            }
        case .certificate: _ = try HubCertificate(credential, at: now)
        }
    }

    private static func check(_ credential: HubFCMCredential) throws(ServiceError) {
        do throws(FCMServiceAccountFault) { _ = try FCMServiceAccount(credential) } catch {
            throw ServiceError(.invalidField, "the service account of Firebase: \(error)")
        }
    }

    /// As the setting `apns-topic` wants it.
    public static func isBundleID(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count) && text.contains(".") && (try? APNsBroadcastRules.check(app: text)) != nil
    }
}

extension VAPIDIdentity {
    /// Throws `invalidField` for keys that are no pair, and for a subject that push services refuse.
    ///
    /// - Parameter former: the keys with which browsers have subscribed before the hub had its own.
    init(_ credential: HubBrowserCredential, former: [VAPIDKey] = []) throws(ServiceError) {
        guard let key = VAPIDKey(privateText: credential.privateKey) else {
            throw ServiceError(.invalidField, "the private VAPID key is 32 bytes of a key on P-256 in Base64 for URLs")
        }
        guard key.publicText == credential.publicKey.prefix(while: { $0 != "=" }) else {
            throw ServiceError(.invalidField, "the public VAPID key is not that of the private one")
        }
        let keys = [key] + former.filter { $0.id != key.id }
        guard let identity = VAPIDIdentity(subject: credential.subject, keys: keys) else {
            throw ServiceError(
                .invalidField,
                "the subject is mailto: with an address, or an https address, at a public host: Apple refuses localhost and the like"
            )
        }
        self = identity
    }
}
