import ClarionTesting
import FCMDelivery
import FCMEmulation
import FCMProtocol
import Foundation
import LocalCertificates
import Logging
import NIOPosix
import PushHub
import RichPushModel
import Testing

@testable import ServerDelivery
@testable import ServerSettings

@Suite("Pushes to Android through the real client to the local FCM")
struct FCMIntegrationTests {
    private static let project = "clarion-test"

    private struct OneAccount: FCMCredentials {
        let account: FCMServiceAccount
        func credential(for hub: HubID) async -> FCMCredential { .account(account) }
    }

    private func withService(
        deadline: Duration = .seconds(20), _ body: (LocalFCM, FCMTransport) async throws -> Void
    ) async throws {
        let trust = NSTemporaryDirectory() + "clarion-fcm-\(UUID().uuidString).pem"
        defer { try? FileManager.default.removeItem(atPath: trust) }
        let now = SystemClock().now
        let authority = try LocalCertificateAuthority.create(now: now)
        let leaf = try authority.issueServerCertificate(names: ["127.0.0.1"], subject: "test", now: now)
        try authority.certificatePEM.write(toFile: trust, atomically: true, encoding: .utf8)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let identity = LocalFCMSettings.Identity(
            certificatePEM: leaf.certificatePEM + "\n" + authority.certificatePEM, privateKeyPEM: leaf.privateKeyPEM)
        let fcm = LocalFCM(
            settings: LocalFCMSettings(identity: identity), clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: logger)
        let address = try await fcm.start()
        try fcm.addProject(Self.project)
        var settings = try #require(SettingsFixture().read().settings)
        settings.fcm.trustRootsPath = trust
        (settings.fcm.host, settings.fcm.port) = ("127.0.0.1", address.port)
        let account = try FCMServiceAccount(keyFile: Array(try fcm.makeKey(project: Self.project).utf8))
        let client = try FCMClient(
            settings.fcm, clock: .system, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        let transport = FCMTransport(
            credentials: OneAccount(account: account), sender: client, endpoint: settings.fcm.endpoint, ramp: .zero,
            deadline: deadline, clock: .system, logger: logger)
        do { try await body(fcm, transport) } catch {
            await client.shutDown()
            await fcm.shutdown()
            throw error
        }
        await client.shutDown()
        await fcm.shutdown()
    }

    private static func phone(_ name: String, _ fcm: LocalFCM, project: String = project) throws -> String {
        try #require(try fcm.addDevice(name, project: project, package: "com.example.app").token)
    }

    private static func batch(_ tokens: [String]) -> PushBatch {
        var batch = PushBatch(
            hub: HubID(1), bodies: [Array(#"{"message":{"data":{"a":"b"}}}"#.utf8)],
            headers: [PushBatch.Headers(pushType: "", priority: 10)],
            targets: tokens.map { PushBatch.Target(handle: DeviceToken(canonical: $0), pushID: PushID(UUID())) })
        batch.platform = .fcmv1
        return batch
    }

    @Test("each of three hundred phones gets its message once, with one access token for all")
    func many() async throws {
        try await withService { fcm, transport in
            let tokens = try (0..<300).map { try Self.phone("phone-\($0)", fcm) }
            #expect(Array(await transport.send(Self.batch(tokens))) == Array(repeating: .accepted, count: 300))
            let delivered = fcm.recorder.deliveries.filter { $0.state == .delivered }
            #expect(delivered.count == 300 && Set(delivered.map(\.device)).count == 300)
            #expect(fcm.recorder.exchanges.count { $0.path == "token" } == 1)
        }
    }

    @Test("a dead, a foreign and a malformed token have the outcomes that they deserve, and touch no other push")
    func tokens() async throws {
        try await withService { fcm, transport in
            try fcm.addProject("another-shop")
            let (good, dead) = (try Self.phone("good", fcm), try Self.phone("dead", fcm))
            let foreign = try Self.phone("foreign", fcm, project: "another-shop")
            try fcm.device("dead")?.act(.uninstall)
            let outcomes = Array(await transport.send(Self.batch([good, dead, foreign, "no token"])))
            #expect(outcomes[0] == .accepted && outcomes[2] == .badToken && outcomes[3] == .badToken)
            #expect({ if case .gone = outcomes[1] { true } else { false } }())
        }
    }

    @Test("an answer that stalls after its status counts, although its body is never whole")
    func halfAnswer() async throws {
        try await withService(deadline: .seconds(2)) { fcm, transport in
            let token = try Self.phone("phone", fcm)
            fcm.inject(.halfAnswer)
            #expect(Array(await transport.send(Self.batch([token]))) == [.accepted])
            #expect(fcm.waitingFaults == 0)
        }
    }

    @Test("a token endpoint that says its status and nothing more costs the deadline alone", .timeLimit(.minutes(1)))
    func stalledTokenAnswer() async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
                    channel.writeAndFlush(channel.allocator.buffer(string: head), promise: nil)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let client = try FCMClient(
            try #require(SettingsFixture().read().settings).fcm, clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let request = FCMRequest(url: "http://127.0.0.1:\(port)/token", headers: [], body: [])
        let reply = await client.post(request, within: .milliseconds(300))
        #expect({ if case .unknown("no answer in time") = reply { true } else { false } }(), "\(reply)")
        await client.shutDown()
        try await server.close().get()
    }

    @Test("access tokens that are revoked on the way are renewed, and the push is accepted")
    func revoked() async throws {
        try await withService { fcm, transport in
            let token = try Self.phone("phone", fcm)
            #expect(Array(await transport.send(Self.batch([token]))) == [.accepted])
            fcm.inject(.revokeTokens)
            #expect(Array(await transport.send(Self.batch([token]))) == [.accepted])
            #expect(fcm.waitingFaults == 0 && fcm.recorder.exchanges.count { $0.path == "token" } == 2)
        }
    }

    @Test("an answer that is lost leaves it unknown whether the message arrived")
    func lostAnswer() async throws {
        try await withService { fcm, transport in
            let token = try Self.phone("phone", fcm)
            fcm.inject(.loseAnswer)
            let lost = await transport.send(Self.batch([token]))[0]
            #expect({ if case .unknown = lost { true } else { false } }(), "\(lost)")
        }
    }

    @Test("a server error is tried again, also one that is a page of HTML", arguments: [FCMFault.badGateway, .serverError])
    func serverErrors(fault: FCMFault) async throws {
        try await withService { fcm, transport in
            let token = try Self.phone("phone", fcm)
            fcm.inject(fault)
            let outcome = await transport.send(Self.batch([token]))[0]
            #expect({ if case .retry = outcome { true } else { false } }(), "\(outcome)")
        }
    }
}
