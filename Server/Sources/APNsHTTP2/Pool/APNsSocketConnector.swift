import NIOCore
import NIOPosix
import NIOSSL

/// Makes TCP connections with TLS on an event loop.
struct APNsSocketConnector: APNsConnector {
    let eventLoop: any EventLoop
    let endpoint: APNsClientConfiguration.Endpoint
    let connectTimeout: TimeAmount
    /// Absent for clear text.
    let tls: NIOSSLContext?
    /// The name for SNI and for verification; absent when it is an address, which TLS verifies as such.
    let serverName: String?

    func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel> {
        let bound = NIOLoopBound(handler, eventLoop: eventLoop)
        // The bootstrap resolves the name anew for each connection, as Apple asks (APNs reference 1.2).
        return withUserTimeout(ClientBootstrap(group: eventLoop))
            .connectTimeout(connectTimeout)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 256 * 1024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: serverName))
                    }
                    try channel.pipeline.syncOperations.addHandler(bound.value)
                }
            }
            .connect(host: endpoint.host, port: endpoint.port)
    }

    /// Written bytes that nobody acknowledges end the connection after 20 s instead of after 15 minutes (APNs reference 1.8).
    private func withUserTimeout(_ bootstrap: ClientBootstrap) -> ClientBootstrap {
        #if os(Linux)
            // TCP_USER_TIMEOUT, in milliseconds.
            return bootstrap.channelOption(.tcpOption(.init(rawValue: 18)), value: 20_000)
        #else
            return bootstrap
        #endif
    }
}
