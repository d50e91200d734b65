import APNsEmulation
import APNsProtocol
import Crypto
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import Testing

@testable import ServerDelivery
@testable import ServerSettings

@Suite("Clients of APNs go where the settings say")
struct APNsClientMakerTests {
    private static let topic = "org.example.app"
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A local APNs of one environment that knows the key and the app, and the file with its authority.
    private struct World {
        let apns: LocalAPNs
        let port: Int
        let roots: String

        init(_ environment: APNsEnvironment, key: P256.Signing.PrivateKey, folder: String) async throws {
            apns = try LocalAPNs(
                configuration: LocalAPNsConfiguration(environment: environment), clock: .system,
                group: .singletonMultiThreadedEventLoopGroup, logger: quiet)
            try apns.registerKey(teamID: "TEAM567890", keyID: "KEY4567890", publicKeyPEM: key.publicKey.pemRepresentation)
            try apns.registerApp(bundleID: topic, teamID: "TEAM567890")
            port = try await apns.start().port
            roots = folder + "/\(environment.rawValue).pem"
            try apns.certificateAuthorityPEM.write(toFile: roots, atomically: true, encoding: .utf8)
        }
    }

    /// The outcome of a push to the token with a hub's own credential.
    private static func outcome(
        of token: String, with key: P256.Signing.PrivateKey, for environment: HubAPNsCredential.Environment,
        by maker: APNsClientMaker
    ) async throws -> PushOutcomes {
        let credential = HubAPNsCredential(
            identity: .token(key: key.pemRepresentation, keyID: "KEY4567890", teamID: "TEAM567890"), topic: topic,
            environment: environment)
        let made = try maker.transport(credential)
        let target = PushBatch.Target(handle: try #require(DeviceToken(token, platform: .apns)), pushID: PushID(UUID()))
        let outcomes = await made.transport.send(
            PushBatch(
                hub: HubID(1), bodies: [Array(#"{"aps":{"alert":"Hello"}}"#.utf8)],
                headers: [PushBatch.Headers(pushType: "alert", priority: 10)], targets: [target]))
        await made.close(.seconds(1))
        return outcomes
    }

    @Test("a credential for the sandbox sends to apns-sandbox-host, one for production to apns-host, both past a proxy elsewhere")
    func places() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = P256.Signing.PrivateKey()
        let sandbox = try await World(.sandbox, key: key, folder: folder)
        let production = try await World(.production, key: key, folder: folder)
        let read = SettingsLoader(
            arguments: [],
            environment: [
                "CLARION_ALLOW_LOCAL_APNS": "true", "CLARION_APNS_PROXY": "http://proxy.invalid:3128",
                "CLARION_APNS_HOST": "127.0.0.1", "CLARION_APNS_PORT": String(production.port),
                "CLARION_APNS_TRUST_ROOTS_PATH": production.roots, "CLARION_APNS_SANDBOX_HOST": "localhost",
                "CLARION_APNS_SANDBOX_PORT": String(sandbox.port), "CLARION_APNS_SANDBOX_TRUST_ROOTS_PATH": sandbox.roots,
            ], path: nil, system: .server
        ).read()
        let maker = APNsClientMaker(
            settings: try #require(read.settings), group: .singletonMultiThreadedEventLoopGroup, observer: nil,
            ledger: APNsClientLedger(), tokens: ProviderTokens(clock: .system), logger: Self.quiet)
        // Each world knows its own device alone, so that a push which went to the other one is refused.
        let here = sandbox.apns.issueToken(device: "phone", topic: Self.topic)
        let there = production.apns.issueToken(device: "phone", topic: Self.topic)
        #expect(try await Self.outcome(of: here, with: key, for: .sandbox, by: maker) == [.accepted])
        #expect(try await Self.outcome(of: there, with: key, for: .production, by: maker) == [.accepted])
        #expect(sandbox.apns.requests(for: here).accepted == 1)
        #expect(production.apns.requests(for: there).accepted == 1)
        await sandbox.apns.shutdown()
        await production.apns.shutdown()
    }
}
