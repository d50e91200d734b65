import LocalCertificates
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import ServiceEmulation

/// Owns the listening socket of one of the two services and its open connections.
final class Listener: Sendable {
    private struct State {
        var wasStarted = false
        var server: (any Channel)?
        var isShutDown = false
        var connections: [ObjectIdentifier: any Channel] = [:]
        var arrivals = RateWindow()
    }

    let service: APNsService
    let configuration: LocalAPNsConfiguration
    let authority: LocalCertificateAuthority
    let core: EmulatorCore
    let logger: Logger
    private let port: Int
    private let group: any EventLoopGroup
    private let state = NIOLockedValueBox(State())
    private let pump = NIOLockedValueBox<Task<Void, Never>?>(nil)

    init(
        _ service: APNsService, port: Int, configuration: LocalAPNsConfiguration, authority: LocalCertificateAuthority,
        core: EmulatorCore, group: any EventLoopGroup, logger: Logger
    ) {
        self.service = service
        self.port = port
        self.configuration = configuration
        self.authority = authority
        self.core = core
        self.group = group
        self.logger = logger
    }

    /// Returns the port that it got.
    func start() async throws -> Int {
        let host = configuration.host
        guard configuration.allowsRemoteClients || LocalAPNsConfiguration.isLoopback(host) else {
            throw LocalAPNsError.notLoopback(host: host)
        }
        let wasStarted = state.withLockedValue { state in
            defer { state.wasStarted = true }
            return state.wasStarted
        }
        guard !wasStarted else { throw LocalAPNsError.alreadyStarted }
        let tls = try configuration.transport == .tls ? tlsContext() : nil
        let server: any Channel
        do {
            server = try await bootstrap(tls: tls).bind(host: host, port: port).get()
        } catch {
            throw LocalAPNsError.cannotListen(host: host, port: port, cause: "\(error)")
        }
        let isShutDown = state.withLockedValue { state in
            state.server = server
            return state.isShutDown
        }
        if isShutDown { try? await server.close() }
        startPump()
        let bound = server.localAddress?.port ?? port
        let purpose = service == .provider ? "pushes and broadcasts" : "channel management"
        logger.info(
            "The local APNs listens",
            metadata: [
                "host": "\(host)", "port": "\(bound)", "environment": "\(configuration.environment.rawValue)",
                "component": "\(purpose)",
            ])
        return bound
    }

    /// Ends every connection; connections that come while it ends are closed at once.
    func shutdown() async {
        pump.withLockedValue { $0 }?.cancel()
        let (server, connections) = state.withLockedValue { state in
            state.isShutDown = true
            return (state.server, Array(state.connections.values))
        }
        try? await server?.close()
        for connection in connections { connection.pipeline.fireUserInboundEventTriggered(ConnectionCommand.close) }
        for connection in connections { try? await connection.closeFuture.get() }
    }

    /// Returns when every connection that is open now has obeyed.
    func command(_ command: ConnectionCommand) async {
        let connections = state.withLockedValue { Array($0.connections.values) }
        let obeyed = connections.map { connection in
            connection.eventLoop.submit { connection.pipeline.fireUserInboundEventTriggered(command) }
        }
        // A loop that has ended took its connections along.
        for connection in obeyed { try? await connection.get() }
    }

    /// Once in a second: lets background pushes go whose budget is free again, and looks for idle connections.
    private func startPump() {
        let task = Task { [weak self, core] in
            while (try? await core.clock.sleep(for: .seconds(1))) != nil {
                core.deliver { state, now in state.store.releaseHeld(now: now) + state.channels.dropExpired(now: now) }
                if let limit = core.rules.idleLimit { await self?.command(.checkIdle(limit: limit)) }
            }
        }
        pump.withLockedValue { $0 = task }
    }

    private func bootstrap(tls: NIOSSLContext?) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                self.add(channel)
                let delay = self.core.rules.connectDelay
                let bound = delay > .zero ? self.wait(delay, on: channel.eventLoop) : channel.eventLoop.makeSucceededVoidFuture()
                return bound.flatMapThrowing { try self.configure(channel.pipeline.syncOperations, tls: tls) }
            }
    }

    private func wait(_ delay: Duration, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let clock = core.clock
        return eventLoop.makeFutureWithTask { try await clock.sleep(for: delay) }
    }

    func configure(_ pipeline: ChannelPipeline.SynchronousOperations, tls: NIOSSLContext?) throws {
        if let tls { try pipeline.addHandler(makeTLSHandler(tls)) }
        let number = core.nextConnection()
        if core.traffic.isOn {
            let tableSize = core.rules.headerTableSize
            try pipeline.addHandler(
                FrameTap(recorder: core.traffic, clock: core.clock, connection: number, tableSize: tableSize))
        }
        let filter = ServerSettingsFilter()
        try pipeline.addHandler(filter)
        try pipeline.addHandler(makeHTTP2Handler())
        try pipeline.addHandler(EmulatorConnectionHandler(listener: self, number: number, filter: filter))
    }

    private func add(_ channel: any Channel) {
        let (rules, uptime) = (core.rules, core.clock.uptime)
        let isWelcome = state.withLockedValue { state in
            var isWelcome = !state.isShutDown && state.connections.count < rules.maximumConnections
            if let rate = rules.connectRate {
                isWelcome = isWelcome && state.arrivals.recent(seconds: rate.seconds, uptime: uptime) < rate.count
                state.arrivals.add(seconds: rate.seconds, uptime: uptime)
            }
            state.connections[ObjectIdentifier(channel)] = channel
            return isWelcome
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLockedValue { $0.connections[ObjectIdentifier(channel)] = nil }
        }
        if !isWelcome { channel.close(promise: nil) }
    }

    /// TLS 1.2 or later; ALPN `h2` for clients that ask, and HTTP/2 also for clients that do not. A client certificate
    /// is asked for, as Apple does of everybody, and not required (Reference/APNs.md#1-3).
    func tlsContext() throws -> NIOSSLContext {
        let leaf = try authority.issueServerCertificate(
            names: ["localhost", "127.0.0.1", "::1"] + configuration.names, subject: "Clarion local APNs", now: core.clock.now)
        let chain = try NIOSSLCertificate.fromPEMBytes(Array((leaf.certificatePEM + "\n" + authority.certificatePEM).utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(leaf.privateKeyPEM.utf8), format: .pem)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .optionalVerification
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.certificatePEM.utf8)))
        tls.shutdownTimeout = .milliseconds(500)
        return try NIOSSLContext(configuration: tls)
    }

    /// The TLS side of a connection. A client certificate that this authority did not sign, that names no app or that was
    /// revoked fails the handshake; one outside its dates or of the other environment is complained about later.
    func makeTLSHandler(_ context: NIOSSLContext) -> NIOSSLServerHandler {
        let (authority, core) = (authority, core)
        let verify: NIOSSLCustomVerificationCallback = { shown, promise in
            guard let bytes = try? shown.first?.toDERBytes(), let certificate = authority.read(bytes) else {
                promise.succeed(.failed)
                return
            }
            let isRevoked = core.state.withLockedValue { $0.isRevoked(certificate.serialNumber) }
            promise.succeed(isRevoked ? .failed : .certificateVerified)
        }
        return NIOSSLServerHandler(context: context, customVerificationCallback: verify)
    }

    /// The library's own flood limits are raised: they would disconnect a correct client that acknowledges the many SETTINGS
    /// frames that this server sends by design.
    func makeHTTP2Handler() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = ServerSettings.initial(core.rules)
        connection.maximumSequentialEmptyDataFrames = 100
        connection.maximumRecentlyResetStreams = 2_048
        connection.maximumConnectionGlitches = 1_000_000
        connection.controlFrameRateLimit.maximumCount = 10_000
        connection.controlFrameRateLimit.windowLength = .seconds(1)
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 10_000
        stream.streamResetFrameRateLimit.windowLength = .seconds(1)
        stream.streamErrorRateLimit.maximumCount = 10_000
        stream.streamErrorRateLimit.windowLength = .seconds(1)
        return NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: stream)
    }
}

/// A client that never spoke HTTP/2, by the likely cause, which the client's own error message seldom says.
enum NonHTTP2Client: Equatable {
    case speaksNoTLS
    case distrustsAuthority
    case hasBadCertificate
    case failsHandshake
    case speaksNoHTTP2

    /// `nil` for other errors, and for a connection that ended without sending anything, as port scans do.
    init?(_ error: any Error) {
        switch error {
        case is NIOHTTP2Errors.BadClientMagic: self = .speaksNoHTTP2
        case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): return nil
        case NIOSSLError.handshakeFailed(let cause): self.init(handshake: "\(cause)")
        default: return nil
        }
    }

    /// By the names of BoringSSL: an alert was sent by the client.
    init(handshake cause: String) {
        let cause = cause.uppercased()
        if ["ALERT_UNKNOWN_CA", "ALERT_BAD_CERTIFICATE", "ALERT_CERTIFICATE_UNKNOWN"].contains(where: cause.contains) {
            self = .distrustsAuthority
        } else if cause.contains("CERTIFICATE_VERIFY_FAILED") {
            self = .hasBadCertificate
        } else if ["HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER"].contains(where: cause.contains) {
            self = .speaksNoTLS
        } else {
            self = .failsHandshake
        }
    }

    var complaint: ClientComplaint.Kind { self == .speaksNoHTTP2 ? .spokeNoHTTP2 : .failedHandshake }

    var cause: String {
        switch self {
        case .speaksNoTLS: "it spoke no TLS"
        case .distrustsAuthority: "it does not trust the authority of the local APNs, authority.pem"
        case .hasBadCertificate: "its client certificate is refused: of another authority, without an app, or revoked"
        case .failsHandshake: "the TLS handshake failed"
        case .speaksNoHTTP2: "it spoke something else than HTTP/2, such as HTTP/1.1"
        }
    }
}

extension EmulatorConnectionHandler {
    /// Counts it, and logs each kind at most every ten seconds.
    func note(_ client: NonHTTP2Client, _ error: any Error) {
        let uptime = core.clock.uptime
        let isNews = core.state.withLockedValue { state in
            state.violations[client.complaint, default: 0] += 1
            let isNews = state.reportedClients[client.complaint, default: RateWindow()].recent(seconds: 10, uptime: uptime) == 0
            if isNews { state.reportedClients[client.complaint, default: RateWindow()].add(seconds: 10, uptime: uptime) }
            return isNews
        }
        guard isNews else { return }
        logger.info(
            "A client of the local APNs did not speak HTTP/2",
            metadata: ["connection": "\(number)", "reason": "\(client.cause)", "error": "\(error)"])
    }
}
