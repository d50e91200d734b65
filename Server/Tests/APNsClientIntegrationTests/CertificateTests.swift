import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Testing

@Suite("Client certificates", .timeLimit(.minutes(2)))
struct CertificateTests {
    private func client(
        _ service: LocalService, _ certificate: IssuedCertificate
    ) throws -> APNsClient {
        try service.otherClient {
            $0.credential = .certificate(chain: certificate.certificatePEM, privateKey: certificate.privateKeyPEM)
            $0.timing.pushDeadline = .seconds(3)
        }
    }

    @Test("a certificate takes the place of the token: nothing is authorized in the request, and the first write is not alone")
    func accepted() async throws {
        try await LocalService.run { service in
            let certificate = try service.apns.issueClientCertificate(ClientCertificateRequest(bundleID: LocalService.topic))
            let client = try client(service, certificate)
            #expect(await client.send(service.pushes(300)).filter(\.isAccepted).count == 300)
            #expect(client.metrics.rejected == 0)
            await client.shutdown(within: .seconds(2))
        }
    }

    @Test("a certificate of the other environment is named by the GOAWAY, ends the push at once, and is not tried in a loop")
    func wrongEnvironment() async throws {
        try await LocalService.run { service in
            let certificate = try service.apns.issueClientCertificate(
                ClientCertificateRequest(bundleID: LocalService.topic, environments: [.production]))
            let client = try client(service, certificate)
            let outcome = try #require(await client.send(service.pushes(1)).first)
            #expect(outcome == .notSent(.credentialRefused) || outcome.reason == .badCertificateEnvironment)
            if outcome.reason == nil { #expect(client.metrics.lastGoAwayReason == .badCertificateEnvironment) }
            #expect(client.metrics.connected + client.metrics.connectFailures <= 1)
            await client.shutdown(within: .seconds(1))
        }
    }

    @Test("a revoked certificate is refused by TLS, and that is what the outcome says")
    func revoked() async throws {
        try await LocalService.run { service in
            let certificate = try service.apns.issueClientCertificate(ClientCertificateRequest(bundleID: LocalService.topic))
            service.apns.revokeCertificate(serialNumber: certificate.serialNumber)
            let client = try client(service, certificate)
            let outcome = try #require(await client.send(service.pushes(1)).first)
            #expect(!outcome.isAccepted)
            if case .unknown = outcome { Issue.record("nothing was sent, so nothing is unknown") }
            await client.shutdown(within: .seconds(1))
        }
    }

    @Test("a topic that the certificate does not name is refused")
    func foreignTopic() async throws {
        try await LocalService.run { service in
            let certificate = try service.apns.issueClientCertificate(ClientCertificateRequest(bundleID: "com.example.other"))
            let client = try client(service, certificate)
            #expect(await client.send(service.pushes(1)).first?.isAccepted == false)
            await client.shutdown(within: .seconds(1))
        }
    }

    @Test("what is no certificate or no key is refused before anything is connected")
    func malformed() async throws {
        try await LocalService.run { service in
            let certificate = try service.apns.issueClientCertificate(ClientCertificateRequest(bundleID: LocalService.topic))
            #expect(throws: APNsConfigurationFault.certificateChain) {
                try service.otherClient { $0.credential = .certificate(chain: "x", privateKey: certificate.privateKeyPEM) }
            }
            #expect(throws: APNsConfigurationFault.certificateKey) {
                try service.otherClient { $0.credential = .certificate(chain: certificate.certificatePEM, privateKey: "x") }
            }
        }
    }
}
