import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Owns the listening socket of one of the two doors and knows its open connections.
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
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
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
}
