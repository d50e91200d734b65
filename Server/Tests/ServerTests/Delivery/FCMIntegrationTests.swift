import ClarionTesting
import FCMEmulation
import FCMProtocol
import Logging
import NIOPosix
import PushHub
import RichPushModel
import Testing

@testable import ServerDelivery
@testable import ServerSettings

@Suite("Pushes to Android through the real client to the local FCM")
struct FCMIntegrationTests {
    private static func send(_ tokens: [DeviceToken], at rig: FCMRig) async -> [PushOutcome] {
        Array(await rig.transport.send(TransportPromises.batch(tokens, at: rig)))
    }

    @Test("each of three hundred phones gets its message once, with one access token for all")
    func many() async throws {
        try await FCMRig.run(RigTerms()) { rig in
            let phones = try rig.devices(300)
            #expect(await Self.send(phones, at: rig) == Array(repeating: .accepted, count: 300))
            let delivered = rig.fcm.recorder.deliveries.filter { $0.state == .delivered }
            #expect(delivered.count == 300 && Set(delivered.map(\.device)).count == 300)
            #expect(rig.fcm.recorder.exchanges.count { $0.path == "token" } == 1)
        }
    }

    @Test("a token of another project is bad once the account is proven, and touches no other push")
    func foreign() async throws {
        try await FCMRig.run(RigTerms()) { rig in
            try rig.fcm.addProject("another-shop")
            let tokens = [try rig.device("good"), try rig.device("foreign", project: "another-shop")]
            #expect(await Self.send(tokens, at: rig) == [.accepted, .badToken])
        }
    }

    @Test("an answer that stalls after its status counts, although its body is never whole")
    func halfAnswer() async throws {
        try await FCMRig.run(RigTerms(deadline: .seconds(2))) { rig in
            let phone = try rig.devices(1)
            // An access token and a connection may take a busy machine longer than that.
            #expect(await eventually { await Self.send(phone, at: rig) == [.accepted] })
            rig.fcm.inject(.halfAnswer)
            #expect(await Self.send(phone, at: rig) == [.accepted])
            #expect(rig.fcm.waitingFaults == 0)
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
        await client.shutDown(within: .seconds(1))
        try await server.close().get()
    }

    @Test("access tokens that are revoked on the way are renewed, and the push is accepted")
    func revoked() async throws {
        try await FCMRig.run(RigTerms()) { rig in
            let phone = try rig.devices(1)
            #expect(await Self.send(phone, at: rig) == [.accepted])
            rig.fcm.inject(.revokeTokens)
            #expect(await Self.send(phone, at: rig) == [.accepted])
            #expect(rig.fcm.waitingFaults == 0 && rig.fcm.recorder.exchanges.count { $0.path == "token" } == 2)
        }
    }

    @Test("an account that may not send waits for the operator, and condemns no token")
    func permission() async throws {
        try await FCMRig.run(RigTerms()) { rig in
            _ = try rig.fcm.makeKey(project: FCMRig.project, maySend: false)
            let outcomes = await Self.send(try rig.devices(3), at: rig)
            #expect(outcomes.allSatisfy { $0.isMisconfigured }, "\(outcomes)")
        }
    }

    @Test("a server error that is a page of HTML is tried again")
    func page() async throws {
        try await FCMRig.run(RigTerms()) { rig in
            let phone = try rig.devices(1)
            rig.fcm.inject(.badGateway)
            #expect(await Self.send(phone, at: rig).first?.pause == .seconds(10))
        }
    }
}
