import ClarionTesting
import Foundation
import LocalCertificates
import Logging
import NIOPosix
import PushHub
import RichPushModel
import SharedAccess
import Synchronization
import Testing
import WebPushProtocol

@testable import ServerDelivery
@testable import ServerSettings
@testable import WebPushDelivery
@testable import WebPushEmulation

/// The transport to browsers at a local push service, by TLS. A proxy between them stands still on demand.
final class BrowserRig: TransportRig {
    let platform = Platform.browser
    let width = WebPushTransport.width
    let strangeToken = DeviceToken(canonical: "no subscription")
    let transport: any PushTransport
    private let clock: ManualClock
    let service: LocalWebPush
    let proxy: FaultProxy
    private let terms: RigTerms
    private let client: WebPushClient
    private let browser: BrowserSession
    /// What the browser subscribes with.
    private let serverKey: VAPIDKey
    /// The channels of the browser by their tokens.
    private let channels = Mutex<[DeviceToken: String]>([:])

    static func run(_ terms: RigTerms, _ body: (BrowserRig) async throws -> Void) async throws {
        try await ManualClock.whileRunning { clock in try await run(terms, clock, body) }
    }

    private static func run(
        _ terms: RigTerms, _ clock: ManualClock, _ body: (BrowserRig) async throws -> Void
    ) async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let bounds = LocalWebPushBounds(subscriptions: 10_000, waitingMessages: 10_000, recorded: 20_000)
        let trust = NSTemporaryDirectory() + "clarion-browsers-\(UUID().uuidString).pem"
        defer { try? FileManager.default.removeItem(atPath: trust) }
        var local = LocalWebPushSettings(identity: try identity(trustedBy: trust, names: terms.names), bounds: bounds)
        local.speaksHTTP2 = terms.speaksHTTP2
        let service = LocalWebPush(
            settings: local, clock: clock, group: .singletonMultiThreadedEventLoopGroup, logger: quiet)
        let proxy = try await FaultProxy(to: try await service.start().port)
        // Endpoints lead to the proxy.
        service.core.with { $0.origin = "https://\(terms.host):\(proxy.port)" }
        let browser = try await BrowserSession.connect(SimulatedBrowser(), to: service)
        var settings = Settings()
        settings.webPush.hosts = [terms.host]
        settings.webPush.networks = ["127.0.0.0/8", "::1/128"].compactMap { AddressRange($0) }
        settings.webPush.trustRootsPath = trust
        let client = try WebPushClient(settings.webPush, clock: clock, group: .singletonMultiThreadedEventLoopGroup)
        let key = VAPIDKey()
        let transport = WebPushTransport(
            identity: try #require(VAPIDIdentity(subject: "mailto:push@example.com", keys: [key])),
            allowing: settings.webPush.rule, sender: client, deadline: terms.deadline, clock: clock, logger: quiet)
        let rig = BrowserRig(
            transport: transport, service: service, proxy: proxy, client: client, browser: browser, clock: clock,
            serverKey: terms.isCredentialGood ? key : VAPIDKey(), terms: terms)
        let result = await Result { try await body(rig) }
        await client.shutDown(within: .seconds(5))
        try await proxy.stop()
        browser.close()
        await service.shutdown()
        try result.get()
    }

    /// A new certificate, and its authority in a file.
    private static func identity(trustedBy path: String, names: [String]) throws -> LocalWebPushSettings.Identity {
        let now = SystemClock().now
        let authority = try LocalCertificateAuthority.create(now: now)
        let leaf = try authority.issueServerCertificate(names: names, subject: "test", now: now)
        try authority.certificatePEM.write(toFile: path, atomically: true, encoding: .utf8)
        return .init(
            certificatePEM: leaf.certificatePEM + "\n" + authority.certificatePEM, privateKeyPEM: leaf.privateKeyPEM)
    }

    private init(
        transport: any PushTransport, service: LocalWebPush, proxy: FaultProxy, client: WebPushClient, browser: BrowserSession,
        clock: ManualClock, serverKey: VAPIDKey, terms: RigTerms
    ) {
        (self.transport, self.service, self.proxy, self.clock) = (transport, service, proxy, clock)
        (self.client, self.browser, self.serverKey, self.terms) = (client, browser, serverKey, terms)
    }

    var heard: Int { service.recorder.exchanges.count }

    func devices(_ count: Int) async throws -> [DeviceToken] {
        var tokens: [DeviceToken] = []
        for _ in 0..<count {
            tokens.append(DeviceToken(canonical: try await browser.subscribe(serverKey: serverKey.publicText).token))
        }
        let known = browser.browser
        channels.withLock { channels in
            for channel in known.channelIDs {
                if let token = known.subscription(channel)?.token { channels[DeviceToken(canonical: token)] = channel }
            }
        }
        return tokens
    }

    func remove(_ device: DeviceToken) throws {
        let channel = try #require(channels.withLock { $0[device] })
        service.endSubscription(channelID: channel, of: try #require(browser.browser.uaid))
    }

    func body(_ text: String) -> [UInt8] { Array(text.utf8) }

    func taken(by devices: [DeviceToken]) -> [Int] {
        let counts = service.recorder.exchanges.reduce(into: [String: Int]()) { counts, exchange in
            if exchange.messageID != nil, let channel = exchange.channelID { counts[channel, default: 0] += 1 }
        }
        return channels.withLock { channels in devices.map { channels[$0].flatMap { counts[$0] } ?? 0 } }
    }

    func plan(_ trouble: TransportTrouble, times: Int, after: Int) -> Bool {
        let pause = Int(TransportPromises.pause.components.seconds)
        let fault: SenderFault
        switch trouble {
        case .tooMany: fault = .tooManyRequests(retryAfter: pause)
        case .overload: fault = .unavailable(retryAfter: pause)
        case .serverError: fault = .serverError
        case .lostAnswer: fault = .closeBeforeAnswer
        case .cutOff: fault = .closeInBody
        case .orderlyEnd:
            guard terms.speaksHTTP2 else { return false }
            fault = .endInOrder
        }
        service.inject(fault, times: times)
        return true
    }

    func silence() async throws {
        _ = await transport.send(TransportPromises.batch(try await devices(20), at: self))
        service.clearRecorder()
        proxy.hold(toServer: false)
    }

    func slowDown() { proxy.slow(by: .milliseconds(150)) }

    func skip(_ duration: Duration) { clock.advance(by: duration) }

    func endService() async throws {
        try await proxy.stop()
        await service.shutdown()
    }

    func close() async { await client.shutDown(within: .seconds(5)) }
}
