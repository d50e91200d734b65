import APNsProtocol
import LocalCertificates
import NIOSSL
import RichPushModel
import Testing

@testable import APNsEmulation

@Suite("Client certificates")
struct CertificateTests {
    private static let app = EmulatorFixture.bundleID

    @Test("what is issued reads back: app, topics, environments, dates", arguments: [0, 1, 40])
    func extensions(further: Int) throws {
        let authority = try LocalCertificateAuthority.create()
        let topics = (0..<further).map { "\(Self.app).topic\($0).voip" }
        let end = Timestamp(seconds: SystemClock().now.seconds + 1_000)
        let issued = try authority.issueClientCertificate(
            .init(bundleID: Self.app, environments: [.sandbox], furtherTopics: topics, notAfter: end))
        let bytes = try NIOSSLCertificate(bytes: Array(issued.certificatePEM.utf8), format: .pem).toDERBytes()
        let certificate = try #require(authority.read(bytes))
        #expect(certificate.bundleID == Self.app)
        #expect(certificate.topics == [Self.app] + topics)
        #expect(certificate.environments == [.sandbox])
        #expect(certificate.notAfter == end)
        #expect(certificate.serialNumber == issued.serialNumber)
        #expect(try LocalCertificateAuthority.create().read(bytes) == nil)
    }

    @Test("a topic extension of another shape is no topic list")
    func malformed() {
        let good = AppleExtensions.encodeTopics([("a.b", "app")])
        #expect(APNsCertificateMarks.topics(in: good) == ["a.b"])
        for cut in 0..<good.count { #expect(APNsCertificateMarks.topics(in: good.prefix(cut)) == nil) }
        for index in good.indices {
            var damaged = good
            damaged[index] ^= 0x80
            _ = APNsCertificateMarks.topics(in: damaged)
        }
    }

    @Test("the one topic may be left out, several may not, and no other is allowed")
    func topics() throws {
        var fixture = try EmulatorFixture()
        try fixture.show(.init(bundleID: Self.app))
        #expect(EmulatorFixture.text(fixture.send { $0.topic = nil }) == "200")
        #expect(EmulatorFixture.text(fixture.send { $0.topic = "com.example.other" }) == "400 BadTopic")
        fixture.apns.rules.certificateTopicReason = .topicDisallowed
        #expect(EmulatorFixture.text(fixture.send { $0.topic = "com.example.other" }) == "400 TopicDisallowed")
        try fixture.show(.init(bundleID: Self.app, furtherTopics: [Self.app + ".voip", Self.app + ".location-query"]))
        #expect(EmulatorFixture.text(fixture.send { $0.topic = nil }) == "400 MissingTopic")
        let location = fixture.send { ($0.topic, $0.pushType) = (Self.app + ".location-query", "location") }
        #expect(EmulatorFixture.text(location) == "400 TopicDisallowed")
        #expect(EmulatorFixture.text(fixture.send { $0.authorization = "bearer nonsense" }) == "200")
    }

    @Test("broadcasts and channels take the certificate of the app in the path alone")
    func channels() throws {
        var fixture = try EmulatorFixture()
        try fixture.show(.init(bundleID: Self.app))
        #expect(EmulatorFixture.text(fixture.send(.broadcast)) == "200")
        try fixture.show(.init(bundleID: "com.example.other"))
        #expect(EmulatorFixture.text(fixture.send(.broadcast)) == "403 TopicMismatch")
        #expect(EmulatorFixture.text(fixture.send(.management)) == "403 TopicMismatch")
    }

    @Test("a certificate is enough on the wire, and the limit rises before anything was accepted", arguments: [true, false])
    func accepted(raises: Bool) async throws {
        try await RunningEmulator.run { rules in
            rules.raisesLimitForCertificates = raises
        } _: { emulator in
            let certificate = try emulator.apns.issueClientCertificate(.init(bundleID: Self.app))
            let client = try await emulator.connect(certificate: certificate)
            var request = emulator.push("")
            request.headers.removeAll { $0.0 == "authorization" || $0.0 == "apns-topic" }
            #expect(try await client.send(request).status == "400")
            request.body = "{}"
            #expect(try await client.send(request).status == "200")
            let streams = try await client.observation().settings.compactMap { $0.first { $0.hasPrefix("streams") } }
            let before = raises ? ["streams=1", "streams=1000", "streams=1"] : ["streams=1"]
            #expect(Array(streams.prefix(before.count)) == before)
            #expect(streams.dropFirst(before.count).allSatisfy { $0 == "streams=1000" })
            try await client.close()
        }
    }

    @Test("the wrong environment and an ended certificate are answered 403 where the rules want no GOAWAY")
    func answered() async throws {
        try await RunningEmulator.run { rules in
            rules.certificateEnvironment = .answer
        } _: { emulator in
            let now = SystemClock().now
            let requests = [
                ClientCertificateRequest(bundleID: Self.app, environments: [.production]),
                ClientCertificateRequest(bundleID: Self.app, notAfter: now - .seconds(5)),
            ]
            for (request, reason) in zip(requests, ["BadCertificateEnvironment", "BadCertificate"]) {
                let client = try await emulator.connect(certificate: try emulator.apns.issueClientCertificate(request))
                let answer = try await client.send(emulator.push())
                #expect(answer.status == "403" && answer.body == #"{"reason":"\#(reason)"}"#)
                try await client.close()
            }
        }
    }

    @Test("a certificate of another authority and a revoked one fail the handshake", arguments: [true, false])
    func refused(revoked: Bool) async throws {
        try await RunningEmulator.run { emulator in
            let issuer = revoked ? emulator.apns.authority : try LocalCertificateAuthority.create()
            let certificate = try issuer.issueClientCertificate(.init(bundleID: Self.app))
            if revoked { emulator.apns.revokeCertificate(serialNumber: certificate.serialNumber) }
            let client = try? await emulator.connect(early: [emulator.push()], certificate: certificate)
            let outcomes = try await client?.earlyAnswers() ?? []
            #expect(outcomes.allSatisfy { (try? $0.get()) == nil })
            #expect(emulator.apns.requests(for: emulator.token).requests == 0)
        }
    }

    @Test("no certificate is made for a topic that cannot be one")
    func badTopic() throws {
        let authority = try LocalCertificateAuthority.create()
        #expect(throws: LocalAPNsError.self) { try authority.issueClientCertificate(.init(bundleID: "no topic")) }
    }
}
