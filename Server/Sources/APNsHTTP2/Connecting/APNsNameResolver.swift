import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Finds the addresses of a name: the port through which DNS can be replaced, in tests or by a resolver of one's own.
///
/// It is asked before each connection and must not cache: rotation is how Apple spreads providers (Reference/APNs.md#1-2).
public protocol APNsNameResolver: Sendable {
    /// All IPv4 and IPv6 addresses of a name, in the order of preference; fails when there is none.
    func addresses(of host: String, port: Int, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]>
}

/// Asks the system, on a thread that may block. The system's own cache is all the caching there is.
struct SystemNameResolver: APNsNameResolver {
    /// The name has no address, or the name service did not answer.
    struct NoAddress: Error {
        /// The error text of the system.
        var reason = "it has no address"
    }

    func addresses(of host: String, port: Int, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return eventLoop.makeSucceededFuture([address]) }
        return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try Self.lookUp(host, port: port) }
    }

    private static func lookUp(_ host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
            hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else { throw NoAddress(reason: String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = address(entry.pointee, host: host) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else { throw NoAddress() }
        return addresses
    }

    private static func address(_ entry: addrinfo, host: String) -> SocketAddress? {
        guard let address = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee, host: host) }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee, host: host) }
        default: return nil
        }
    }
}
