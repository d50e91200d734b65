import APNsProtocol
import ClarionTesting
import LocalCertificates
import Logging
import NIOPosix
import RichPushModel
import Testing

@testable import APNsEmulation

@Suite("Setting up the local APNs")
struct SetupTests {
    private func make(_ configuration: LocalAPNsConfiguration) throws -> LocalAPNs {
        try LocalAPNs(
            configuration: configuration, clock: .system, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("only loopback is loopback")
    func loopback() {
        for host in ["127.0.0.1", "127.255.0.9", "localhost", "::1"] { #expect(LocalAPNsConfiguration.isLoopback(host)) }
        for host in ["0.0.0.0", "::", "127.0.0.1.example.com", "127.1", "10.0.0.1", "", "127.0.0.256", "localhost.example"] {
            #expect(!LocalAPNsConfiguration.isLoopback(host), "\(host)")
        }
    }

    @Test("an address that other machines reach is refused unless it is allowed")
    func remote() async throws {
        let apns = try make(LocalAPNsConfiguration(host: "0.0.0.0"))
        await #expect(throws: LocalAPNsError.notLoopback(host: "0.0.0.0")) { try await apns.start() }
        let allowed = try make(LocalAPNsConfiguration(host: "0.0.0.0", allowsRemoteClients: true))
        #expect(try await allowed.start().port > 0)
        await allowed.shutdown()
    }

    @Test("starting twice, or on a port that is taken, says so")
    func startTwice() async throws {
        let apns = try make(LocalAPNsConfiguration())
        let port = try await apns.start().port
        await #expect(throws: LocalAPNsError.alreadyStarted) { try await apns.start() }
        let second = try make(LocalAPNsConfiguration(port: port))
        await #expect(throws: LocalAPNsError.self) { try await second.start() }
        await apns.shutdown()
        await second.shutdown()
    }

    @Test("an authority that was kept is the same authority")
    func keptAuthority() throws {
        let created = try LocalCertificateAuthority.create()
        let loaded = try LocalCertificateAuthority.load(
            certificatePEM: created.certificatePEM, privateKeyPEM: created.privateKeyPEM)
        #expect(loaded.certificatePEM == created.certificatePEM)
        let apns = try make(LocalAPNsConfiguration(authority: loaded))
        #expect(apns.certificateAuthorityPEM == created.certificatePEM)
    }

    @Test("the leaf names localhost, both loopback addresses and what was configured")
    func names() async throws {
        let apns = try make(LocalAPNsConfiguration(names: ["api.push.example", "10.1.2.3"]))
        let port = try await apns.start().port
        for name in ["localhost", "api.push.example"] {
            let client = try await WireClient.connect(port: port, trusting: apns.certificateAuthorityPEM, serverName: name)
            let headers = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", name)]
            #expect(try await client.send(WireClient.Request(headers: headers, body: nil)).status == "405")
            try await client.close()
        }
        // Without a server name the client checks the address that it connected to.
        let client = try await WireClient.connect(port: port, trusting: apns.certificateAuthorityPEM, serverName: nil)
        let headers = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "127.0.0.1")]
        #expect(try await client.send(WireClient.Request(headers: headers, body: nil)).status == "405")
        try await client.close()
        await apns.shutdown()
    }

    @Test("a topic is taken apart at the longest suffix", arguments: APNsPushType.documented)
    func topics(type: APNsPushType) {
        let suffix = type.topicSuffix ?? ""
        let name = TopicName("com.example.rich" + suffix)
        #expect(name.bundleID == "com.example.rich")
        #expect(name.suffix == suffix)
        #expect(name.fits(type))
    }
}
