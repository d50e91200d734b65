import NIOCore

/// Finds the addresses of a name: the port through which DNS can be replaced, in tests or by a resolver of one's own.
///
/// It is asked before each connection and must not cache: rotation is how Apple spreads providers (Reference/APNs.md#1-2).
public protocol APNsNameResolver: Sendable {
    /// All IPv4 and IPv6 addresses of a name, in the order of preference; fails when there is none.
    func addresses(of host: String, port: Int, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]>
}
