import APNsProtocol
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// Makes connections: names resolved anew each time, the best address first, another beside it when that is slow
/// (Reference/APNs.md#1-2), TLS on top. Lives on one event loop.
final class APNsSocketConnector: APNsConnector {
    /// What there is to know before the first connection.
    struct Configuration {
        var endpoint: APNsClientConfiguration.Endpoint
        /// Absent for a direct way.
        var proxy: APNsProxy?
        /// For name resolution and TCP together, and again for the answer of a proxy.
        var connectTimeout: TimeAmount
        /// When a second address is tried beside the first.
        var slowness: TimeAmount
        /// How long written bytes may stay unacknowledged.
        var unacknowledged: TimeAmount
        /// Absent for clear text.
        var tls: NIOSSLContext?
        /// The name for SNI and for verification; absent when it is an address, which TLS verifies as such.
        var serverName: String?
    }

    /// A connection and where it leads.
    private struct Live {
        weak var handler: APNsConnectionHandler?
        let address: SocketAddress
        var isNotedAsLeft = false
    }

    let eventLoop: any EventLoop
    let configuration: Configuration
    let resolver: any APNsNameResolver
    let logger: Logger
    var book = APNsAddressBook<SocketAddress>()
    private var live: [ObjectIdentifier: Live] = [:]

    init(eventLoop: any EventLoop, configuration: Configuration, resolver: any APNsNameResolver, logger: Logger) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.resolver = resolver
        self.logger = logger
    }

    func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel> {
        noteGoAways()
        let attempt = APNsConnectAttempt(handler: handler, connector: self)
        return attempt.start()
    }

    /// The race for a connection was won: TLS and the handler go on top, and the address counts as used.
    func use(_ channel: any Channel, at address: SocketAddress, for handler: APNsConnectionHandler) throws {
        book.connected(address)
        let key = ObjectIdentifier(channel)
        live[key] = Live(handler: handler, address: address)
        channel.closeFuture.assumeIsolated().whenComplete { [weak self, weak handler] _ in
            guard let self else { return }
            // A proxy has done its part when the other side spoke, whatever that said.
            let wasOfUse = handler.map { configuration.proxy == nil ? $0.connection.hasAnswer : $0.connection.hasHeardServer }
            closed(key, wasOfUse: wasOfUse ?? true)
        }
        guard let proxy = configuration.proxy else { return try Self.add(handler, to: channel, configuration) }
        let tunnel = APNsProxyHandler(
            target: configuration.endpoint, proxy: proxy, limit: configuration.connectTimeout, logger: logger,
            opened: { [configuration] in try Self.add(handler, to: $0, configuration) },
            failed: { handler.close(APNsFailure(connectionError: $0, wasReady: false)) })
        try channel.pipeline.syncOperations.addHandler(tunnel)
    }

    private static func add(
        _ handler: APNsConnectionHandler, to channel: any Channel, _ configuration: Configuration
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls = configuration.tls {
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: configuration.serverName))
        }
        try pipeline.addHandler(handler)
    }

    /// The addresses whose server asked for the end of a connection are left alone for a while.
    private func noteGoAways() {
        guard configuration.proxy == nil else { return }
        let now = eventLoop.now
        for (key, entry) in live where !entry.isNotedAsLeft && entry.handler?.connection.wasToldToLeave == true {
            book.saidGoAway(entry.address, at: now)
            live[key]?.isNotedAsLeft = true
        }
    }

    private func closed(_ key: ObjectIdentifier, wasOfUse: Bool) {
        guard let entry = live.removeValue(forKey: key) else { return }
        book.closed(entry.address)
        if configuration.proxy == nil, entry.handler?.connection.wasToldToLeave == true, !entry.isNotedAsLeft {
            book.saidGoAway(entry.address, at: eventLoop.now)
        }
        if wasOfUse { book.succeeded(entry.address) } else { book.failed(entry.address, at: eventLoop.now) }
    }
}

extension HTTP2Connection {
    /// Whether the server sent GOAWAY.
    var wasToldToLeave: Bool { lastProcessed != .max }

    /// Whether the server has taken our SETTINGS.
    var hasHeardServer: Bool { probe.roundTrip != nil }
}
