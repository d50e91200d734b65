import Logging
import NIOCore
import NIOSSL

/// What the parts of one client share.
struct APNsClientSurroundings {
    let eventLoop: any EventLoop
    /// Absent for clear text.
    let tls: NIOSSLContext?
    let resolver: any APNsNameResolver
    let observer: (any APNsClientObserver)?
    let logger: Logger

    func pool(_ configuration: APNsClientConfiguration) -> sending APNsPoolConfiguration {
        var pool = APNsPoolConfiguration(configuration, observer: observer, logger: logger)
        if tls != nil { pool.connection.expectedServerName = Self.serverName(configuration) }
        return pool
    }

    func connector(_ configuration: APNsClientConfiguration) -> sending any APNsConnector {
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
