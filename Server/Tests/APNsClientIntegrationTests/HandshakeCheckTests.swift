import APNsEmulation
import APNsHTTP2
import ClarionTesting
import Foundation
import Logging
import NIOPosix
import RichPushModel
import Testing

@Suite("A look at the way to APNs")
struct HandshakeCheckTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func service() throws -> LocalAPNs {
        try LocalAPNs(
            configuration: LocalAPNsConfiguration(), clock: .system, group: MultiThreadedEventLoopGroup.singleton, logger: logger)
    }

    private func look(
        at port: Int, name: String? = "localhost", trusting pem: String, now: Timestamp = SystemClock().now
    ) async -> APNsHandshakeCheck.Finding {
        let endpoint = APNsClientConfiguration.Endpoint(host: "127.0.0.1", port: port, serverName: name)
        return await APNsHandshakeCheck(of: endpoint, trust: .additional(pem: pem)).look(within: .seconds(10), now: now)
    }

    @Test("finds why a client would fail: the authority, the name, the dates, no server")
    func findings() async throws {
        let (right, wrong) = (try service(), try service())
        let port = try await right.start().port
        let pem = right.certificateAuthorityPEM
        #expect(await look(at: port, trusting: pem) == .sound)
        #expect(
            await look(at: port, trusting: wrong.certificateAuthorityPEM)
                == .refused("no authority that is trusted here vouches for the certificate"))
        #expect(await look(at: port, name: "push.example.com", trusting: pem) == .refused("the certificate is for another name"))
        let later = SystemClock().now + .seconds(100 * 366 * 86_400)
        #expect(
            await look(at: port, trusting: wrong.certificateAuthorityPEM, now: later) == .refused("the certificate has expired"))
        await right.shutdown()
        #expect(await look(at: port, trusting: pem) == .portClosed)
        await wrong.shutdown()
    }

    @Test("trust roots are PEM certificates and nothing else")
    func roots() throws {
        #expect(APNsClientConfiguration.Trust.isFit(pem: try service().certificateAuthorityPEM))
        for text in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            #expect(!APNsClientConfiguration.Trust.isFit(pem: text))
        }
    }
}
