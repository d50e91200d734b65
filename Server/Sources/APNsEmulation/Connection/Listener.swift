import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Owns the listening socket and knows the open connections.
final class Listener: Sendable {
    private struct State {
        var wasStarted = false
        var server: (any Channel)?
        var isShutDown = false
        var connections: [ObjectIdentifier: any Channel] = [:]
        var count = 0
    }

    let configuration: LocalAPNsConfiguration
    let authority: LocalCertificateAuthority
    let core: EmulatorCore
    private let group: any EventLoopGroup
    private let logger: Logger
    private let state = NIOLockedValueBox(State())
    private let pump = NIOLockedValueBox<Task<Void, Never>?>(nil)

    init(
        configuration: LocalAPNsConfiguration, authority: LocalCertificateAuthority, core: EmulatorCore,
        group: any EventLoopGroup, logger: Logger
    ) {
        self.configuration = configuration
        self.authority = authority
        self.core = core
        self.group = group
        self.logger = logger
    }

    func start() async throws -> LocalAPNs.Address {
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
            server = try await bootstrap(tls: tls).bind(host: host, port: configuration.port).get()
        } catch {
            throw LocalAPNsError.cannotListen(host: host, port: configuration.port, cause: "\(error)")
        }
        let isShutDown = state.withLockedValue { state in
            state.server = server
            return state.isShutDown
        }
        if isShutDown { try? await server.close() }
        startPump()
        let address = LocalAPNs.Address(host: host, port: server.localAddress?.port ?? configuration.port)
        logger.info("The local APNs listens", metadata: ["host": "\(address.host)", "port": "\(address.port)"])
        return address
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

    func command(_ command: ConnectionCommand) {
        let connections = state.withLockedValue { Array($0.connections.values) }
        for connection in connections { connection.pipeline.fireUserInboundEventTriggered(command) }
    }

    /// Once in a second: lets background pushes go whose budget is free again, and looks for idle connections.
    private func startPump() {
        let task = Task { [weak self, core] in
            while (try? await core.clock.sleep(for: .seconds(1))) != nil {
                core.deliver { state, now in state.store.releaseHeld(now: now) }
                if let limit = core.rules.idleLimit { self?.command(.checkIdle(limit: limit)) }
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
                let number = self.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    try self.configure(channel.pipeline.syncOperations, number: number, tls: tls)
                }
            }
    }

    private func configure(_ pipeline: ChannelPipeline.SynchronousOperations, number: Int, tls: NIOSSLContext?) throws {
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        let filter = ServerSettingsFilter()
        try pipeline.addHandler(filter)
        try pipeline.addHandler(makeHTTP2Handler())
        try pipeline.addHandler(APNsConnectionHandler(core: core, number: number, filter: filter, logger: logger))
    }

    private func add(_ channel: any Channel) -> Int {
        let (number, isWelcome) = state.withLockedValue { state in
            let isWelcome = !state.isShutDown && state.connections.count < core.rules.maximumConnections
            state.count += 1
            state.connections[ObjectIdentifier(channel)] = channel
            return (state.count, isWelcome)
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLockedValue { $0.connections[ObjectIdentifier(channel)] = nil }
        }
        if !isWelcome { channel.close(promise: nil) }
        return number
    }
}
