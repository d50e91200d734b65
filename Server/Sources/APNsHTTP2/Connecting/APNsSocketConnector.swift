import APNsProtocol
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// Makes connections: names resolved anew each time, the best address first, another beside it when that is slow
/// (Reference/APNs.md#1-2), TLS on top. Lives on one event loop.
final class APNsSocketConnector: APNsConnector {
    /// A connection and where it leads.
    private struct Live {
        weak var handler: APNsConnectionHandler?
        let address: SocketAddress
        var isNotedAsLeft = false
    }

    let eventLoop: any EventLoop
    let configuration: APNsClientConfiguration
    /// Absent for clear text.
    private let tls: NIOSSLContext?
    fileprivate let resolver: any APNsNameResolver
    private let logger: Logger
    fileprivate var book = APNsAddressBook<SocketAddress>()
    private var live: [ObjectIdentifier: Live] = [:]

    init(
        eventLoop: any EventLoop, configuration: APNsClientConfiguration, tls: NIOSSLContext?, resolver: any APNsNameResolver,
        logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.tls = tls
        self.resolver = resolver
        self.logger = logger
    }

    /// For name resolution and TCP together, and again for the answer of a proxy.
    fileprivate var connectTimeout: TimeAmount { TimeAmount(clamping: configuration.timing.connect) }

    func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel> {
        noteGoAways()
        return APNsConnectAttempt(handler: handler, connector: self).start()
    }

    /// The race for a connection was won: TLS and the handler go on top, and the address counts as used.
    fileprivate func use(_ channel: any Channel, at address: SocketAddress, for handler: APNsConnectionHandler) throws {
        book.connected(address)
        let key = ObjectIdentifier(channel)
        live[key] = Live(handler: handler, address: address)
        channel.closeFuture.assumeIsolated().whenComplete { [weak self, weak handler] _ in
            guard let self else { return }
            // A proxy has done its part when the other side spoke, whatever that said.
            let wasOfUse = handler.map { configuration.proxy == nil ? $0.connection.hasAnswer : $0.connection.hasHeardServer }
            closed(key, wasOfUse: wasOfUse ?? true)
        }
        let add = { [configuration, tls] (channel: any Channel) in
            let pipeline = channel.pipeline.syncOperations
            if let tls {
                try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: configuration.endpoint.nameInTLS))
            }
            try pipeline.addHandler(handler)
        }
        guard let proxy = configuration.proxy else { return try add(channel) }
        let tunnel = APNsProxyHandler(
            target: configuration.endpoint, proxy: proxy, limit: connectTimeout, logger: logger, opened: add,
            failed: { handler.close(APNsFailure(connectionError: $0, wasReady: false)) })
        try channel.pipeline.syncOperations.addHandler(tunnel)
    }

    /// The addresses whose server asked for the end of a connection are left alone for a while.
    private func noteGoAways() {
        guard configuration.proxy == nil else { return }
        let now = eventLoop.now
        for (key, entry) in live where !entry.isNotedAsLeft && entry.handler?.connection.hasReceivedGoAway == true {
            book.saidGoAway(entry.address, at: now)
            live[key]?.isNotedAsLeft = true
        }
    }

    private func closed(_ key: ObjectIdentifier, wasOfUse: Bool) {
        guard let entry = live.removeValue(forKey: key) else { return }
        book.closed(entry.address)
        if configuration.proxy == nil, entry.handler?.connection.hasReceivedGoAway == true, !entry.isNotedAsLeft {
            book.saidGoAway(entry.address, at: eventLoop.now)
        }
        if wasOfUse { book.succeeded(entry.address) } else { book.failed(entry.address, at: eventLoop.now) }
    }
}

extension HTTP2Connection {
    /// Whether the server sent GOAWAY.
    var hasReceivedGoAway: Bool { lastProcessed != .max }

    /// Whether the server has taken our SETTINGS.
    var hasHeardServer: Bool { probe.roundTrip != nil }
}

/// Obeys `APNsConnectRace` for one connection: resolves the name, makes plain TCP channels, and gives the first one that
/// stands to the connector. Lives on the connector's event loop, until its future is complete.
private final class APNsConnectAttempt {
    private let handler: APNsConnectionHandler
    private let connector: APNsSocketConnector
    private let promise: EventLoopPromise<any Channel>
    /// The name to resolve: the proxy's if there is one.
    private let host: String
    private var race = APNsConnectRace<SocketAddress>()
    private var addresses: [SocketAddress] = []
    private var channels: [SocketAddress: any Channel] = [:]
    /// What is known of why it fails.
    private var cause: APNsUnreachable
    private var slowness: Scheduled<Void>?
    private var deadline: Scheduled<Void>?

    init(handler: APNsConnectionHandler, connector: APNsSocketConnector) {
        self.handler = handler
        self.connector = connector
        promise = connector.eventLoop.makePromise()
        host = connector.configuration.proxy?.host ?? connector.configuration.endpoint.host
        cause = APNsUnreachable(isUnresolved: true, description: "no name service said in time what the address of \(host) is")
    }

    private var loop: any EventLoop { connector.eventLoop }

    func start() -> EventLoopFuture<any Channel> {
        deadline = loop.assumeIsolated().scheduleTask(in: connector.connectTimeout) {
            self.obey(self.race.timedOut())
        }
        let port = connector.configuration.proxy?.port ?? connector.configuration.endpoint.port
        connector.resolver.addresses(of: host, port: port, on: loop).hop(to: loop).assumeIsolated().whenComplete { result in
            self.note(result)
            self.addresses = AddressFamilies.alternating((try? result.get()) ?? []) { $0.protocol == .inet6 }
            self.obey(self.addresses.isEmpty ? self.race.exhausted() : .attempt)
        }
        return promise.futureResult
    }

    private func note(_ result: Result<[SocketAddress], any Error>) {
        switch result {
        case .success(let addresses) where !addresses.isEmpty:
            cause = APNsUnreachable(description: "no address of \(host) answered in time")
        case .failure(let error as SystemNameResolver.NoAddress):
            cause = APNsUnreachable(isUnresolved: true, description: "the name \(host) cannot be resolved: \(error.reason)")
        default: cause = APNsUnreachable(isUnresolved: true, description: "the name \(host) has no address")
        }
    }

    private func obey(_ instruction: APNsConnectRace<SocketAddress>.Instruction) {
        switch instruction {
        case .none: break
        case .attempt: attempt()
        case .use(let address): use(address)
        case .discard(let address): channels.removeValue(forKey: address)?.close(promise: nil)
        case .fail:
            finish()
            promise.fail(cause)
        }
    }

    private func attempt() {
        guard !race.isOver else { return }
        guard let address = connector.book.choose(from: addresses, except: race.tried, at: loop.now) else {
            return obey(race.exhausted())
        }
        race.began(address)
        slowness?.cancel()
        slowness = loop.assumeIsolated().scheduleTask(in: TimeAmount(clamping: connector.configuration.timing.slowConnect)) {
            self.obey(self.race.isSlow())
        }
        bootstrap.connect(to: address).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel):
                self.channels[address] = channel
                self.obey(self.race.succeeded(address))
            case .failure(let error):
                if let error = error as? IOError { self.cause.description = "\(address): \(error)" }
                self.connector.book.failed(address, at: self.loop.now)
                self.obey(self.race.failed(address))
            }
        }
    }

    private func use(_ address: SocketAddress) {
        finish()
        guard let channel = channels.removeValue(forKey: address) else { return promise.fail(cause) }
        do {
            try connector.use(channel, at: address, for: handler)
            try channel.syncOptions?.setOption(.autoRead, value: true)
            channel.read()
            promise.succeed(channel)
        } catch {
            channel.close(promise: nil)
            promise.fail(error)
        }
    }

    private func finish() {
        slowness?.cancel()
        deadline?.cancel()
    }

    /// Nothing is read before the handlers are there: a server without TLS speaks first.
    private var bootstrap: ClientBootstrap {
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(connector.connectTimeout)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 256 * 1024))
        // Bytes that stay unacknowledged end the connection after 20 s instead of after 15 minutes
        // (Reference/APNs.md#1-8).
        #if os(Linux)
            // TCP_USER_TIMEOUT; 0 would mean the system's quarter of an hour.
            let limit = TimeAmount(clamping: connector.configuration.timing.unacknowledged)
            let milliseconds = Int(limit.nanoseconds / 1_000_000)
            return bootstrap.channelOption(
                .tcpOption(.init(rawValue: 18)), value: .init(min(max(milliseconds, 1), 86_400_000)))
        #else
            return bootstrap
        #endif
    }
}
