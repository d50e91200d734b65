import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import RichPushModel
import Synchronization

/// Owns the listening socket and the open connections. One port serves every one of Google's hosts, over HTTP/2 and HTTP/1.1.
final class FCMListener: Sendable {
    private struct State: Sendable {
        var wasStarted = false
        var isShutDown = false
        var server: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    /// How long a client has until it has said which protocol it speaks.
    private static let handshakeTime: Duration = .seconds(20)
    /// Access tokens of Google have up to 2 KB.
    private static let headerListSize = 32_768

    let core: FCMServiceCore
    let logger: Logger
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    init(core: FCMServiceCore, group: any EventLoopGroup, logger: Logger) {
        (self.core, self.group, self.logger) = (core, group, logger)
    }

    /// Returns the port that it got.
    func start() async throws -> Int {
        let settings = core.settings
        guard settings.allowsRemoteClients || Self.isLoopback(settings.host) else {
            throw LocalFCMError.notLoopback(host: settings.host)
        }
        let wasStarted = state.withLock { state in
            defer { state.wasStarted = true }
            return state.wasStarted
        }
        guard !wasStarted else { throw LocalFCMError.alreadyStarted }
        let tls = try tlsContext()
        let server: any Channel
        do {
            server = try await bootstrap(tls).bind(host: settings.host, port: settings.port).get()
        } catch {
            throw LocalFCMError.cannotListen(host: settings.host, port: settings.port, cause: "\(error)")
        }
        let port = server.localAddress?.port ?? settings.port
        core.with { $0.listens(at: settings.origin(port: port), standsInForGoogle: settings.standsInForGoogle) }
        let isShutDown = state.withLock { state in
            state.server = server
            return state.isShutDown
        }
        if isShutDown { try? await server.close() }
        logger.info("The local FCM listens", metadata: ["host": "\(settings.host)", "port": "\(port)"])
        return port
    }

    /// Ends every connection; one that comes while it ends is closed at once.
    func shutdown() async {
        let server = state.withLock { state in
            state.isShutDown = true
            return state.server
        }
        try? await server?.close()
        let connections = state.withLock { Array($0.connections.values) }
        for connection in connections { connection.close(promise: nil) }
        for connection in connections { try? await connection.closeFuture.get() }
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private func tlsContext() throws(LocalFCMError) -> NIOSSLContext {
        do {
            let identity = core.settings.identity
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem)
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            tls.minimumTLSVersion = .tlsv12
            tls.applicationProtocols = ["h2", "http/1.1"]
            tls.shutdownTimeout = .milliseconds(500)
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw .badIdentity(cause: "\(error)")
        }
    }

    private func bootstrap(_ tls: NIOSSLContext) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                guard self.add(channel) else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture { try self.configure(channel, tls) }
            }
    }

    /// Returns whether the connection is welcome.
    private func add(_ channel: any Channel) -> Bool {
        let (limit, refuses) = (core.settings.bounds.connections, core.refusesConnections)
        let isWelcome = state.withLock { state in
            guard !state.isShutDown, !refuses, state.connections.count < limit else { return false }
            state.connections[ObjectIdentifier(channel)] = channel
            return true
        }
        guard isWelcome else { return false }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
        }
        return true
    }

    private func configure(_ channel: any Channel, _ tls: NIOSSLContext) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(NIOSSLServerHandler(context: tls))
        // A client that names no protocol speaks HTTP/1.1, as at Google.
        try pipeline.addHandler(
            ApplicationProtocolNegotiationHandler { result, channel in
                channel.eventLoop.makeCompletedFuture {
                    try self.speak(result == .negotiated("h2"), on: channel.pipeline.syncOperations)
                }
            })
        let deadline = LoopWait.start(Self.handshakeTime, on: channel.eventLoop, clock: core.clock) {
            let waiting = try? channel.pipeline.syncOperations.handler(type: ApplicationProtocolNegotiationHandler.self)
            if waiting != nil { channel.close(promise: nil) }
        }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
    }

    private func speak(_ isHTTP2: Bool, on pipeline: ChannelPipeline.SynchronousOperations) throws {
        guard isHTTP2 else {
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
            return try pipeline.addHandler(FCMHTTP1Handler(core: core))
        }
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: core.settings.bounds.streams),
            HTTP2Setting(parameter: .initialWindowSize, value: FCMHTTP2Handler.streamWindow),
            HTTP2Setting(parameter: .maxHeaderListSize, value: Self.headerListSize),
        ]
        try pipeline.addHandler(
            NIOHTTP2Handler(mode: .server, connectionConfiguration: connection, streamConfiguration: .init()))
        try pipeline.addHandler(FCMHTTP2Handler(core: core, logger: logger))
    }
}

/// Runs something on an event loop when a time of the service's clock has passed.
enum LoopWait {
    static func start(
        _ delay: Duration, on eventLoop: any EventLoop, clock: any ServiceClock, _ body: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            eventLoop.execute(body)
        }
    }
}
