import Logging
import NIOCore
import NIOSSL

/// What the parts of one client share.
struct APNsClientSurroundings {
    /// Absent for clear text.
    let tls: NIOSSLContext?
    let resolver: any APNsNameResolver
    let observer: (any APNsClientObserver)?
    let logger: Logger

    /// The part of a client on one event loop; with others beside it each gets its share of the limits.
    func shard(
        _ configuration: APNsClientConfiguration, on eventLoop: any EventLoop, number: Int = 0, of count: Int = 1
    ) -> APNsClientShard {
        var own = configuration
        own.limits.connections = max(1, (configuration.limits.connections + count - 1 - number) / count)
        own.limits.queuedPushes = max(1, (configuration.limits.queuedPushes + count - 1 - number) / count)
        var pool = pool(own)
        pool.initialState.number(from: number + 1, by: count)
        return APNsClientShard(eventLoop: eventLoop, pool: pool, connector: connector(own, on: eventLoop))
    }

    private func pool(_ configuration: APNsClientConfiguration) -> sending APNsPoolConfiguration {
        var pool = APNsPoolConfiguration(configuration, observer: observer, logger: logger)
        if tls != nil { pool.connection.expectedServerName = Self.serverName(configuration) }
        return pool
    }

    private func connector(
        _ configuration: APNsClientConfiguration, on eventLoop: any EventLoop
    ) -> sending any APNsConnector {
        APNsSocketConnector(
            eventLoop: eventLoop,
            configuration: APNsSocketConnector.Configuration(
                endpoint: configuration.endpoint, proxy: configuration.proxy,
                connectTimeout: TimeAmount(clamping: configuration.timing.connect),
                slowness: TimeAmount(clamping: configuration.timing.slowConnect),
                unacknowledged: TimeAmount(clamping: configuration.timing.unacknowledged), tls: tls,
                serverName: Self.serverName(configuration)),
            resolver: resolver, logger: logger)
    }

    /// The name that TLS asks for and verifies; absent when the server is named by its address.
    private static func serverName(_ configuration: APNsClientConfiguration) -> String? {
        let name = configuration.serverName
        return (try? SocketAddress(ipAddress: name, port: 0)) == nil ? name : nil
    }
}
