import APNsEmulation
import APNsProtocol
import ClarionTesting
import Crypto
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import ServerDelivery
@testable import ServerSettings

@Suite("Channels at a local APNs", .timeLimit(.minutes(5)))
struct ChannelDeliveryTests {
    private static let topic = "org.example.app"
    private static let body = Array(#"{"aps":{"timestamp":1,"event":"update","content-state":{"score":3}}}"#.utf8)

    /// Runs with the channels that a hub's credential gives access to.
    private func run(
        broadcasts: Bool = true, managed: Bool = true, _ work: (any BroadcastChannels, LocalAPNs) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let key = P256.Signing.PrivateKey()
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(managementPort: 0), clock: .system,
            group: .singletonMultiThreadedEventLoopGroup,
            logger: quiet)
        try apns.registerKey(teamID: "TEAM567890", keyID: "KEY4567890", publicKeyPEM: key.publicKey.pemRepresentation)
        try apns.registerApp(bundleID: Self.topic, teamID: "TEAM567890", broadcasts: broadcasts)
        let address = try await apns.start()
        try apns.certificateAuthorityPEM.write(toFile: folder + "/roots.pem", atomically: true, encoding: .utf8)
        var environment = [
            "CLARION_APNS_ENVIRONMENT": "sandbox", "CLARION_APNS_HOST": "localhost", "CLARION_APNS_PORT": String(address.port),
            "CLARION_APNS_TRUST_ROOTS_PATH": folder + "/roots.pem", "CLARION_PUSH_DEADLINE": "2s",
        ]
        if managed { environment["CLARION_APNS_MANAGEMENT_PORT"] = address.managementPort.map(String.init) }
        let read = SettingsLoader(arguments: [], environment: environment, path: nil, system: .server).read()
        let maker = APNsClientMaker(
            settings: try #require(read.settings), group: .singletonMultiThreadedEventLoopGroup, observer: nil,
            ledger: APNsClientLedger(), tokens: ProviderTokens(clock: .system), logger: quiet)
        let made = try maker.transport(
            HubAPNsCredential(
                identity: .token(key: key.pemRepresentation, keyID: "KEY4567890", teamID: "TEAM567890"), topic: Self.topic,
                environment: .sandbox))
        let failure = await Result { try await work(try #require(made.channels), apns) }
        await made.close(.seconds(1))
        await apns.shutdown()
        try failure.get()
    }

    private func code(_ work: () async throws(ServiceError) -> Void) async -> ServiceErrorCode? {
        do throws(ServiceError) { try await work() } catch { return error.code }
        return nil
    }

    @Test("one request reaches each of a thousand followers once")
    func oneRequest() async throws {
        try await run { channels, apns in
            let channel = try await channels.create(keepsLatest: true)
            var streams: [AsyncStream<DeliveredPush>] = []
            for number in 0..<1_000 {
                streams.append(apns.connect(device: "phone-\(number)"))
                try apns.subscribe(device: "phone-\(number)", toChannel: channel, bundleID: Self.topic)
            }
            let before = apns.recordedExchanges.count
            try await channels.publish(
                ChannelPush(channel: channel, body: Self.body, priority: 5, expiresAt: SystemClock().now + .seconds(60)))
            #expect(apns.recordedExchanges.count == before + 1)
            for number in 0..<1_000 { apns.disconnect(device: "phone-\(number)") }
            var received: [Int] = []
            for stream in streams { received.append(await stream.reduce(into: 0) { count, _ in count += 1 }) }
            #expect(received == Array(repeating: 1, count: 1_000))
        }
    }

    @Test("channels are listed until they are deleted, and pushes to a deleted one are refused for good")
    func management() async throws {
        try await run { channels, apns in
            let channel = try await channels.create(keepsLatest: false)
            #expect(try await channels.channels() == [channel])
            try await channels.delete(channel)
            #expect(try await channels.channels().isEmpty)
            let push = ChannelPush(channel: channel, body: Self.body, priority: 5, expiresAt: nil)
            #expect(await code { () throws(ServiceError) in try await channels.publish(push) } == .notFound)
            #expect(await code { () throws(ServiceError) in try await channels.delete(channel) } == .notFound)
        }
    }

    @Test("APNs refuses a channel without the capability and above the limit, each with an error of its own")
    func limits() async throws {
        try await run(broadcasts: false) { channels, _ in
            #expect(await code { () throws(ServiceError) in _ = try await channels.create(keepsLatest: true) } == .conflict)
        }
        try await run { channels, apns in
            apns.changeRules { $0.channelsPerApp = 1 }
            _ = try await channels.create(keepsLatest: true)
            #expect(await code { () throws(ServiceError) in _ = try await channels.create(keepsLatest: true) } == .quotaExceeded)
        }
    }

    @Test("without the port of the management nothing is created, and pushes still leave")
    func unmanaged() async throws {
        try await run(managed: false) { channels, apns in
            #expect(await code { () throws(ServiceError) in _ = try await channels.create(keepsLatest: true) } == .conflict)
            let channel = try apns.createChannel(bundleID: Self.topic, policy: .none)
            let push = ChannelPush(channel: channel, body: Self.body, priority: 5, expiresAt: nil)
            #expect(await code { () throws(ServiceError) in try await channels.publish(push) } == nil)
        }
    }

    @Test("an APNs that is gone may answer another time")
    func unreachable() async throws {
        try await run { channels, apns in
            await apns.shutdown()
            #expect(await code { () throws(ServiceError) in _ = try await channels.channels() } == .notReady)
        }
    }
}

extension Result where Failure == any Error {
    /// What the work gives or throws.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
