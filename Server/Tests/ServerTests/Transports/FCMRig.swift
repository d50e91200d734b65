import ClarionTesting
import FCMEmulation
import FCMProtocol
import Foundation
import LocalCertificates
import Logging
import NIOPosix
import PushHub
import RichPushModel
import Synchronization
import Testing

@testable import FCMDelivery
@testable import ServerDelivery
@testable import ServerSettings

/// The transport to Android phones at a local FCM.
final class FCMRig: TransportRig {
    private struct OneAccount: FCMCredentials {
        let account: FCMServiceAccount
        func credential(for hub: HubID) async -> FCMCredential { .account(account) }
    }

    static let project = "clarion-test"

    let platform = Platform.fcmv1
    let width = FCMBatchRun.width
    let strangeToken = DeviceToken(canonical: "no token")
    let fcm: LocalFCM
    let transport: any PushTransport
    /// Of both sides.
    let clock: ManualClock
    private let client: FCMClient
    /// The names of the phones by their tokens.
    private let names = Mutex<[DeviceToken: String]>([:])

    static func run(_ terms: RigTerms, _ body: (FCMRig) async throws -> Void) async throws {
        try await run(terms, adjusting: { $0.bounds.recorded = 20_000 }, body)
    }

    static func run(
        _ terms: RigTerms, messagesPerMinute: Int = 600_000, adjusting adjust: (inout LocalFCMSettings) -> Void,
        _ body: (FCMRig) async throws -> Void
    ) async throws {
        try await ManualClock.whileRunning { clock in
            try await run(terms, clock, messagesPerMinute, adjust, body)
        }
    }

    private static func run(
        _ terms: RigTerms, _ clock: ManualClock, _ messagesPerMinute: Int, _ adjust: (inout LocalFCMSettings) -> Void,
        _ body: (FCMRig) async throws -> Void
    ) async throws {
        let trust = NSTemporaryDirectory() + "clarion-fcm-\(UUID().uuidString).pem"
        defer { try? FileManager.default.removeItem(atPath: trust) }
        let now = SystemClock().now
        let authority = try LocalCertificateAuthority.create(now: now)
        let leaf = try authority.issueServerCertificate(names: ["127.0.0.1"], subject: "test", now: now)
        try authority.certificatePEM.write(toFile: trust, atomically: true, encoding: .utf8)
        var local = LocalFCMSettings(
            identity: .init(
                certificatePEM: leaf.certificatePEM + "\n" + authority.certificatePEM, privateKeyPEM: leaf.privateKeyPEM))
        adjust(&local)
        let fcm = try service(local, clock: clock)
        let port = try await fcm.start().port
        // A key that another service made is not known to this one.
        let issuer = terms.isCredentialGood ? fcm : try service(local, clock: clock)
        let key = try issuer.makeKey(project: project, tokenURL: "https://127.0.0.1:\(port)/token")
        var settings = try #require(SettingsFixture().read().settings)
        settings.fcm.trustRootsPath = trust
        (settings.fcm.host, settings.fcm.port) = ("127.0.0.1", port)
        let client = try FCMClient(settings.fcm, clock: clock, group: .singletonMultiThreadedEventLoopGroup, logger: quiet)
        let transport = FCMTransport(
            credentials: OneAccount(account: try FCMServiceAccount(keyFile: Array(key.utf8))), sender: client,
            endpoint: settings.fcm.endpoint, messagesPerMinute: messagesPerMinute, ramp: .zero, deadline: terms.deadline,
            clock: clock, logger: quiet)
        let result = await Result { try await body(FCMRig(fcm, transport, client, clock)) }
        await client.shutDown(within: .seconds(5))
        await fcm.shutdown()
        try result.get()
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func service(_ settings: LocalFCMSettings, clock: any ServiceClock) throws -> LocalFCM {
        let fcm = LocalFCM(settings: settings, clock: clock, group: .singletonMultiThreadedEventLoopGroup, logger: quiet)
        try fcm.addProject(project)
        return fcm
    }

    private init(_ fcm: LocalFCM, _ transport: any PushTransport, _ client: FCMClient, _ clock: ManualClock) {
        (self.fcm, self.transport, self.client, self.clock) = (fcm, transport, client, clock)
    }

    var heard: Int { fcm.recorder.exchanges.count { $0.path == "send" } }

    func devices(_ count: Int) throws -> [DeviceToken] {
        let first = names.withLock { $0.count }
        return try (first..<first + count).map { try device("phone-\($0)") }
    }

    /// A phone with the app, of this project or of another.
    func device(_ name: String, project: String = FCMRig.project) throws -> DeviceToken {
        let phone = try fcm.addDevice(name, project: project, package: "com.example.app")
        let token = DeviceToken(canonical: try #require(phone.token))
        names.withLock { $0[token] = name }
        return token
    }

    func remove(_ device: DeviceToken) throws {
        let name = try #require(names.withLock { $0[device] })
        try fcm.device(name)?.act(.uninstall)
    }

    func body(_ text: String) -> [UInt8] { Array(#"{"message":{"data":{"text":"\#(text)"}}}"#.utf8) }

    func taken(by devices: [DeviceToken]) -> [Int] {
        let counts = fcm.recorder.exchanges.reduce(into: [String: Int]()) { counts, exchange in
            if exchange.messageID != nil, let name = exchange.device { counts[name, default: 0] += 1 }
        }
        return names.withLock { names in devices.map { names[$0].flatMap { counts[$0] } ?? 0 } }
    }

    func plan(_ trouble: TransportTrouble, times: Int, after: Int) -> Bool {
        let pause = FCMFault.Pause.seconds(Int(TransportPromises.pause.components.seconds))
        let fault: FCMFault =
            switch trouble {
            case .tooMany: .tooManyRequests(pause)
            case .overload: .unavailable(pause)
            case .serverError: .serverError
            case .lostAnswer: .loseAnswer
            case .cutOff: .resetStream
            case .orderlyEnd: .goAway(processed: false)
            }
        fcm.inject(fault, times: times, after: after)
        return true
    }

    func silence() async throws {
        _ = await transport.send(TransportPromises.batch(try devices(1), at: self))
        fcm.clearRecorder()
        fcm.inject(.stall, every: 1)
    }

    func slowDown() { fcm.inject(.delay(milliseconds: 300), every: 1) }

    func skip(_ duration: Duration) { clock.advance(by: duration) }

    func endService() async { await fcm.shutdown() }

    func close() async { await client.shutDown(within: .seconds(5)) }
}
