import NIOCore
import NIOPosix

/// Obeys `APNsConnectRace` for one connection: resolves the name, makes plain TCP channels, and gives the first one that
/// stands to the connector. Lives on the connector's event loop, until its future is complete.
final class APNsConnectAttempt {
    private let handler: APNsConnectionHandler
    private let connector: APNsSocketConnector
    private let promise: EventLoopPromise<any Channel>
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
        let host = connector.configuration.proxy?.host ?? connector.configuration.endpoint.host
        cause = APNsUnreachable(isUnresolved: true, description: "no name service said in time what the address of \(host) is")
    }

    private var loop: any EventLoop { connector.eventLoop }

    func start() -> EventLoopFuture<any Channel> {
        deadline = loop.assumeIsolated().scheduleTask(in: connector.configuration.connectTimeout) {
            self.obey(self.race.timedOut())
        }
        let target = connector.configuration.proxy
        connector.resolver.addresses(
            of: target?.host ?? connector.configuration.endpoint.host,
            port: target?.port ?? connector.configuration.endpoint.port, on: loop
        ).hop(to: loop).assumeIsolated().whenComplete { result in
            self.note(result)
            self.addresses = AddressFamilies.alternating((try? result.get()) ?? []) { $0.protocol == .inet6 }
            self.obey(self.addresses.isEmpty ? self.race.exhausted() : .attempt)
        }
        return promise.futureResult
    }

    private func note(_ result: Result<[SocketAddress], any Error>) {
        let host = connector.configuration.proxy?.host ?? connector.configuration.endpoint.host
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
        slowness = loop.assumeIsolated().scheduleTask(in: connector.configuration.slowness) {
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
            .connectTimeout(connector.configuration.connectTimeout)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 256 * 1024))
        // Written bytes that nobody acknowledges end the connection after 20 s instead of after 15 minutes
        // (Reference/APNs.md#1-8).
        #if os(Linux)
            // TCP_USER_TIMEOUT; 0 would mean the system's quarter of an hour.
            let milliseconds = Int(connector.configuration.unacknowledged.nanoseconds / 1_000_000)
            return bootstrap.channelOption(
                .tcpOption(.init(rawValue: 18)), value: .init(min(max(milliseconds, 1), 86_400_000)))
        #else
            return bootstrap
        #endif
    }
}
