import NIOCore
import NIOPosix
import RichPushModel
import Synchronization

/// Why a local service does not listen. The error type of each service has these cases.
public protocol LocalListenerError: Error {
    /// The host is reachable by other machines, which is not allowed.
    static func notLoopback(host: String) -> Self
    /// The address is in use or not of this machine.
    static func cannotListen(host: String, port: Int, cause: String) -> Self
    /// A service starts once.
    static var alreadyStarted: Self { get }
}

/// The listening socket of a local service, and the connections that are open.
public final class LocalListener<Failure: LocalListenerError>: Sendable {
    /// Makes the pipeline of a connection, on its event loop.
    public typealias Configuration = @Sendable (any Channel) throws -> Void

    private struct State: Sendable {
        var wasStarted = false
        var isShutDown = false
        var server: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    private let host: String
    private let port: Int
    private let allowsRemoteClients: Bool
    private let limit: Int
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    /// Creates a listener; nothing listens before `start`.
    ///
    /// - Parameter limit: connections at a time.
    public init(host: String, port: Int, allowsRemoteClients: Bool, limit: Int, group: any EventLoopGroup) {
        (self.host, self.port, self.allowsRemoteClients) = (host, port, allowsRemoteClients)
        (self.limit, self.group) = (limit, group)
    }

    /// Listens, and returns the port that it got.
    ///
    /// - Parameters:
    ///   - isOpen: whether a new connection is welcome. Others end as soon as they are there.
    ///   - prepare: what goes before the socket.
    public func start(
        isOpen: @escaping @Sendable () -> Bool, _ prepare: () throws(Failure) -> Configuration
    ) async throws(Failure) -> Int {
        guard allowsRemoteClients || Self.isLoopback(host) else { throw .notLoopback(host: host) }
        let wasStarted = state.withLock { state in
            defer { state.wasStarted = true }
            return state.wasStarted
        }
        guard !wasStarted else { throw .alreadyStarted }
        let bootstrap = bootstrap(isOpen, try prepare())
        let server: any Channel
        do { server = try await bootstrap.bind(host: host, port: port).get() } catch {
            throw .cannotListen(host: host, port: port, cause: ListenCause.text(of: error))
        }
        let isShutDown = state.withLock { state in
            state.server = server
            return state.isShutDown
        }
        if isShutDown { try? await server.close() }
        return server.localAddress?.port ?? port
    }

    /// Ends every connection; one that comes while it ends is closed at once.
    public func shutdown(_ end: (any Channel) -> Void = { $0.close(promise: nil) }) async {
        let server = state.withLock { state in
            state.isShutDown = true
            return state.server
        }
        try? await server?.close()
        let connections = state.withLock { Array($0.connections.values) }
        for connection in connections { end(connection) }
        for connection in connections { try? await connection.closeFuture.get() }
    }

    /// Whether this machine alone reaches a host. Any other name could stand for anything.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private func bootstrap(_ isOpen: @escaping @Sendable () -> Bool, _ configure: @escaping Configuration) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                guard isOpen(), self.add(channel) else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture { try configure(channel) }
            }
    }

    /// Returns whether there is room for the connection.
    private func add(_ channel: any Channel) -> Bool {
        let isWelcome = state.withLock { state in
            guard !state.isShutDown, state.connections.count < limit else { return false }
            state.connections[ObjectIdentifier(channel)] = channel
            return true
        }
        guard isWelcome else { return false }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
        }
        return true
    }
}

/// The origin of a local service, as its clients name it.
public enum LocalOrigin {
    /// Scheme, host and port; without the port that the scheme has by itself.
    public static func text(_ scheme: String, host: String, port: Int) -> String {
        let place = "\(scheme)://" + (host.contains(":") ? "[\(host)]" : host)
        return port == (scheme == "https" ? 443 : 80) ? place : "\(place):\(port)"
    }
}

/// Runs something on an event loop when a time of a service's clock has passed.
public enum LoopTimer {
    /// Waits and then calls `body`, unless the task is cancelled before.
    public static func start(
        _ delay: Duration, on eventLoop: any EventLoop, clock: any ServiceClock, _ body: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            eventLoop.execute(body)
        }
    }

    /// The same for a handler that lives on the event loop; `nil` when its connection is gone.
    public static func start<Handler>(
        _ delay: Duration, of handler: Handler, in context: ChannelHandlerContext?, clock: any ServiceClock,
        _ body: @escaping @Sendable (Handler) -> Void
    ) -> Task<Void, Never>? {
        guard let eventLoop = context?.eventLoop else { return nil }
        let bound = NIOLoopBound(handler, eventLoop: eventLoop)
        return start(delay, on: eventLoop, clock: clock) { body(bound.value) }
    }
}
