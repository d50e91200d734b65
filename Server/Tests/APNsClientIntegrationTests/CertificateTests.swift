import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import RichPushModel
import Testing

@Suite("Client certificates", .timeLimit(.minutes(10)))
struct CertificateTests {
    private func client(
        _ service: LocalService, _ certificate: IssuedCertificate, deadline: Duration = .seconds(60)
    ) throws -> APNsClient {
        try service.otherClient {
            $0.credential = .certificate(chain: certificate.certificatePEM, privateKey: certificate.privateKeyPEM)
            $0.timing.pushDeadline = deadline
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

    /// One push with a certificate that APNs does not want, and what the client says of it.
    private func refuse(
        _ request: ClientCertificateRequest, rules: EmulationRules, _ check: (APNsOutcome, APNsClient) async throws -> Void
    ) async throws {
        try await LocalService.run(rules: rules) { service in
            let client = try client(service, try service.apns.issueClientCertificate(request))
            try await check(try #require(await client.send(service.pushes(1)).first), client)
            #expect(client.metrics.connected + client.metrics.connectFailures <= 1, "tried in a loop")
            #expect(service.apns.acceptanceCounts.isEmpty)
            await client.shutdown(within: .seconds(1))
        }
    }

    @Test("a certificate of the other environment is named by the GOAWAY, ends the push at once, and is not tried in a loop")
    func wrongEnvironment() async throws {
        let request = ClientCertificateRequest(bundleID: LocalService.topic, environments: [.production])
        try await refuse(request, rules: EmulationRules()) { outcome, client in
            #expect(outcome == .notSent(.credentialRefused))
            #expect(client.metrics.lastGoAwayReason == .badCertificateEnvironment)
        }
    }

    @Test("a certificate of the other environment that is named by the answer is a refusal with that reason")
    func wrongEnvironmentAnswered() async throws {
        var rules = EmulationRules()
        rules.certificateEnvironment = .answer
        let request = ClientCertificateRequest(bundleID: LocalService.topic, environments: [.production])
        try await refuse(request, rules: rules) { outcome, client in
            #expect(outcome.reason == .badCertificateEnvironment)
            #expect(client.metrics.goAways == 0)
        }
    }

    @Test("an expired certificate is named, by the answer or by the GOAWAY", arguments: [false, true])
    func expired(isToldByGoAway: Bool) async throws {
        var rules = EmulationRules()
        rules.expiredCertificate = isToldByGoAway ? .goAway : .answer
        let now = SystemClock().now.seconds
        let request = ClientCertificateRequest(
            bundleID: LocalService.topic, notBefore: Timestamp(seconds: now - 7_200), notAfter: Timestamp(seconds: now - 3_600))
        try await refuse(request, rules: rules) { outcome, client in
            if isToldByGoAway {
                #expect(outcome == .notSent(.credentialRefused))
                #expect(client.metrics.lastGoAwayReason == .badCertificate)
            } else {
                #expect(outcome.reason == .badCertificate)
            }
        }
    }

    @Test("a revoked certificate is refused by TLS, and that is what the outcome says")
    func revoked() async throws {
        try await LocalService.run { service in
            let certificate = try service.apns.issueClientCertificate(ClientCertificateRequest(bundleID: LocalService.topic))
            service.apns.revokeCertificate(serialNumber: certificate.serialNumber)
            // The deadline ends the attempts.
            let client = try client(service, certificate, deadline: .seconds(15))
            #expect(await client.send(service.pushes(1)) == [.notSent(.tlsFailed)])
            #expect(service.apns.recordedExchanges.isEmpty)
            await client.shutdown(within: .seconds(1))
        }
    }

    @Test("a topic that the certificate does not name is refused, and with that reason")
    func foreignTopic() async throws {
        let request = ClientCertificateRequest(bundleID: "com.example.other")
        try await refuse(request, rules: EmulationRules()) { outcome, _ in #expect(outcome.reason == .badTopic) }
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
