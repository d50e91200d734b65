import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Crypto
import LocalCertificates
import NIOSSL
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import ServerDelivery

@Suite("Certificates of hubs")
struct HubCertificateTests {
    private static let now = SystemClock().now

    private static func issued(
        _ environments: Set<APNsEnvironment> = [.sandbox], until end: Timestamp? = nil
    ) throws -> (certificatePEM: String, privateKeyPEM: String) {
        var request = ClientCertificateRequest(bundleID: "com.example.app", environments: environments)
        request.notBefore = now - .seconds(86_400)
        request.notAfter = end
        let issued = try LocalCertificateAuthority.create().issueClientCertificate(request, now: now)
        return (issued.certificatePEM, issued.privateKeyPEM)
    }

    private func credential(_ data: [UInt8], password: String? = nil, topic: String? = nil) -> HubAPNsCredential {
        HubAPNsCredential(identity: .certificate(data: data, password: password), topic: topic, environment: .sandbox)
    }

    @Test("PEM with certificate and key is taken, and names its app")
    func pem() throws {
        let issued = try Self.issued()
        let read = try HubCertificate(credential(Array((issued.certificatePEM + "\n" + issued.privateKeyPEM).utf8)), at: Self.now)
        #expect(read.topic == "com.example.app")
        let key = try NIOSSLPrivateKey(bytes: Array(read.keyPEM.utf8), format: .pem)
        let given = try NIOSSLPrivateKey(bytes: Array(issued.privateKeyPEM.utf8), format: .pem)
        #expect(key == given)
    }

    @Test("PKCS #12 opens with its password only, and gives what the client needs")
    func bundle() throws {
        let issued = try Self.issued()
        let bundle = NIOSSLPKCS12Bundle(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(issued.certificatePEM.utf8)),
            privateKey: try NIOSSLPrivateKey(bytes: Array(issued.privateKeyPEM.utf8), format: .pem))
        let data = try bundle.serialize(passphrase: "word".utf8)
        let read = try HubCertificate(credential(data, password: "word", topic: "com.example.app"), at: Self.now)
        #expect(read.topic == "com.example.app")
        #expect(try NIOSSLCertificate.fromPEMBytes(Array(read.chainPEM.utf8)).count == 1)
        #expect(throws: ServiceError.self) { try HubCertificate(credential(data, password: "other"), at: Self.now) }
        #expect(throws: ServiceError.self) { try HubCertificate(credential(data), at: Self.now) }
    }

    @Test("a certificate that APNs would refuse every push for is refused when it is given, with the reason")
    func useless() throws {
        func detail(_ issued: (certificatePEM: String, privateKeyPEM: String), topic: String? = nil) -> String? {
            do {
                let text = issued.certificatePEM + "\n" + issued.privateKeyPEM
                _ = try HubCertificate(credential(Array(text.utf8), topic: topic), at: Self.now)
                return nil
            } catch {
                return error.detail
            }
        }
        let other = detail(try Self.issued(), topic: "com.example.other")
        #expect(other == "the certificate is for com.example.app, not for com.example.other")
        #expect(detail(try Self.issued([.production]))?.contains("production environment alone") == true)
        #expect(detail(try Self.issued(until: Self.now - .seconds(60)))?.contains("has ended") == true)
        #expect(detail(try Self.issued([.sandbox, .production])) == nil)
    }

    @Test("another's key, no key, and what is no certificate are refused with an error that shows nothing")
    func refused() throws {
        let issued = try Self.issued()
        let other = P256.Signing.PrivateKey().pemRepresentation
        for text in [
            issued.certificatePEM, issued.privateKeyPEM, issued.certificatePEM + "\n" + other, "", "-----BEGIN ", "text",
        ] {
            do {
                _ = try HubCertificate(credential(Array(text.utf8)), at: Self.now)
                Issue.record("it was taken")
            } catch {
                #expect(error.code == .invalidField)
                #expect(error.detail?.contains("BEGIN") == false)
            }
        }
    }
}
