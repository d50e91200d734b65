import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Crypto
import NIOSSL
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import ClarionServer

@Suite("Certificates of hubs")
struct HubCertificateTests {
    private static func issued() throws -> (certificatePEM: String, privateKeyPEM: String) {
        let issued = try LocalCertificateAuthority.create().issueClientCertificate(
            ClientCertificateRequest(bundleID: "com.example.app", environments: [.sandbox]), now: SystemClock().now)
        return (issued.certificatePEM, issued.privateKeyPEM)
    }

    private func credential(_ data: [UInt8], password: String? = nil, topic: String? = nil) -> HubAPNsCredential {
        HubAPNsCredential(identity: .certificate(data: data, password: password), topic: topic, environment: .sandbox)
    }

    @Test("PEM with certificate and key is taken, and names its app")
    func pem() throws {
        let issued = try Self.issued()
        let read = try HubCertificate(credential(Array((issued.certificatePEM + "\n" + issued.privateKeyPEM).utf8)))
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
        let read = try HubCertificate(credential(data, password: "word", topic: "com.example.other"))
        #expect(read.topic == "com.example.other")
        #expect(try NIOSSLCertificate.fromPEMBytes(Array(read.chainPEM.utf8)).count == 1)
        #expect(throws: ServiceError.self) { try HubCertificate(credential(data, password: "other")) }
        #expect(throws: ServiceError.self) { try HubCertificate(credential(data)) }
    }

    @Test("another's key, no key, and what is no certificate are refused in words that show nothing")
    func refused() throws {
        let issued = try Self.issued()
        let other = P256.Signing.PrivateKey().pemRepresentation
        for text in [
            issued.certificatePEM, issued.privateKeyPEM, issued.certificatePEM + "\n" + other, "", "-----BEGIN ", "text",
        ] {
            do {
                _ = try HubCertificate(credential(Array(text.utf8)))
                Issue.record("it was taken")
            } catch {
                #expect(error.code == .invalidField)
                #expect(error.detail?.contains("BEGIN") == false)
            }
        }
    }
}
