import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Stands between a client and a server on this machine and can break what passes.
public final class FaultProxy: Sendable {
    /// What a server listens at.
    public enum Target: Sendable {
        /// A port of this machine.
        case port(Int)
        /// The path of a socket.
        case socket(String)
    }

    /// What happens to connections that are made from now on.
    public enum Fault: Sendable {
        case none
        /// The connection breaks when so many bytes went to the server; as many connections as given, then none.
        case cutToServer(after: Int, times: Int)
        /// The same for bytes that come back.
        case cutToClient(after: Int, times: Int)
        /// The connection stands still when so many bytes came back.
        case holdToClient(after: Int)
        /// This is the answer to everything, so many times.
        case answer(String, times: Int)
        /// Nothing ever comes.
        case silence
    }

    fileprivate struct State {
        var fault = Fault.none
        var connections: [ObjectIdentifier: any Channel] = [:]
        var toClient = 0
        var accepted = 0
        var isHeld = false
        var isHeldToServer = false
        var delay = Duration.zero
    }

    fileprivate let state = NIOLockedValueBox(State())
    private let listener: NIOLockedValueBox<(any Channel)?>
    private let target: Target
    /// While nothing listens here, no other takes the port.
    private let place: HeldPort
    /// Where it listens, at 127.0.0.1.
    public let port: Int

    /// Listens at a port of its own for a server at a port of this machine.
    public convenience init(to target: Int) async throws { try await self.init(.port(target)) }

    /// Listens at a port of its own for a server.
    public init(_ target: Target) async throws {
        self.target = target
        let state = state
        let place = try HeldPort()
        let channel = try await Self.bootstrap(state, target).bind(host: "127.0.0.1", port: place.number).get()
        (self.place, port) = (place, place.number)
        listener = NIOLockedValueBox(channel)
    }

    /// How many bytes have come back from the server.
    public var bytesToClient: Int { state.withLockedValue { $0.toClient } }

    /// How many connections there were.
    public var accepted: Int { state.withLockedValue { $0.accepted } }

    /// Ends all connections; new ones meet the fault.
    public func set(_ fault: Fault) {
        let open = state.withLockedValue { state in
            state.fault = fault
            (state.isHeld, state.isHeldToServer) = (false, false)
            return Array(state.connections.values)
        }
        for channel in open { channel.close(promise: nil) }
    }

    /// From now on nothing passes over the connections that there are, or nothing comes back, and none of them ends.
    public func hold(toServer isHeldToServer: Bool = true) {
        state.withLockedValue { ($0.isHeld, $0.isHeldToServer) = (true, isHeldToServer) }
    }

    /// From now on everything takes so much longer in both directions, over the connections that there are as well.
    public func slow(by delay: Duration) { state.withLockedValue { $0.delay = delay } }

    /// Nothing listens any more.
    public func stop() async throws {
        set(.none)
        let channel = listener.withLockedValue { listener in
            defer { listener = nil }
            return listener
        }
        try await channel?.close()
    }

    /// Listens again, at the same port.
    public func restart() async throws {
        let channel = try await Self.bootstrap(state, target).bind(host: "127.0.0.1", port: port).get()
        listener.withLockedValue { $0 = channel }
    }

    private static func bootstrap(_ state: NIOLockedValueBox<State>, _ target: Target) -> ServerBootstrap {
        ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                let fault = state.withLockedValue { state in
                    state.connections[ObjectIdentifier(client)] = client
                    state.accepted += 1
                    return state.take()
                }
                client.closeFuture.whenComplete { _ in
                    state.withLockedValue { _ = $0.connections.removeValue(forKey: ObjectIdentifier(client)) }
                }
                switch fault {
                case .silence: return client.eventLoop.makeSucceededVoidFuture()
                case .answer(let text, _): return client.pipeline.addHandler(CannedAnswer(text: text))
                case .none: return join(client, to: target, state)
                case .cutToServer(let count, _): return join(client, to: target, state, up: .cut(after: count))
                case .cutToClient(let count, _): return join(client, to: target, state, down: .cut(after: count))
                case .holdToClient(let count): return join(client, to: target, state, down: .hold(after: count))
                }
            }
    }

    private static func join(
        _ client: any Channel, to target: Target, _ state: NIOLockedValueBox<State>, up: Relay.End? = nil,
        down: Relay.End? = nil
    ) -> EventLoopFuture<Void> {
        let bootstrap = ClientBootstrap(group: client.eventLoop).channelOption(.autoRead, value: false)
        let connecting =
            switch target {
            case .port(let port): bootstrap.connect(host: "127.0.0.1", port: port)
            case .socket(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        return
            connecting.flatMap { server in
                let upward = Relay(to: server, until: up) { _ in state.withLockedValue { $0.isHeldToServer ? nil : $0.delay } }
                let downward = Relay(to: client, until: down) { count in
                    state.withLockedValue { state in
                        state.toClient += count
                        return state.isHeld ? nil : state.delay
                    }
                }
                return client.pipeline.addHandler(upward).flatMap { server.pipeline.addHandler(downward) }.map { server.read() }
            }
    }
}

extension FaultProxy.State {
    /// The fault of a new connection; one that has had its times is over.
    fileprivate mutating func take() -> FaultProxy.Fault {
        let current = fault
        switch fault {
        case .cutToServer(let after, let times): fault = times > 1 ? .cutToServer(after: after, times: times - 1) : .none
        case .cutToClient(let after, let times): fault = times > 1 ? .cutToClient(after: after, times: times - 1) : .none
        case .answer(let text, let times): fault = times > 1 ? .answer(text, times: times - 1) : .none
        case .none, .silence, .holdToClient: break
        }
        return current
    }
}

/// Hands bytes on, no faster than the other side takes them.
private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// What ends the handing on, after so many bytes.
    enum End {
        case cut(after: Int)
        case hold(after: Int)
    }

    private let other: any Channel
    private let left: NIOLockedValueBox<Int?>
    private let isHeldAtEnd: Bool
    /// Takes note of so many bytes; how long they take, and `nil` when they go no further.
    private let count: @Sendable (Int) -> Duration?

    init(to other: any Channel, until end: End?, count: @escaping @Sendable (Int) -> Duration?) {
        self.other = other
        switch end {
        case .cut(let bytes): (left, isHeldAtEnd) = (NIOLockedValueBox(bytes), false)
        case .hold(let bytes): (left, isHeldAtEnd) = (NIOLockedValueBox(bytes), true)
        case nil: (left, isHeldAtEnd) = (NIOLockedValueBox(nil), false)
        }
        self.count = count
    }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        // What is held is never asked for again, so the other side stands still with it.
        guard let delay = count(bytes.readableBytes) else { return }
        let channel = context.channel
        let isEnd = left.withLockedValue { left in
            guard let rest = left else { return false }
            if bytes.readableBytes < rest {
                left = rest - bytes.readableBytes
                return false
            }
            bytes = bytes.getSlice(at: bytes.readerIndex, length: rest) ?? ByteBuffer()
            return true
        }
        let whole = bytes
        // What comes next is read only once this has left, so that a delay keeps the order and slows the sender down.
        guard delay > .zero else { return hand(whole, isEnd: isEnd, from: channel) }
        channel.eventLoop.scheduleTask(in: TimeAmount(delay)) { self.hand(whole, isEnd: isEnd, from: channel) }
    }

    private func hand(_ bytes: ByteBuffer, isEnd: Bool, from channel: any Channel) {
        let other = other
        other.writeAndFlush(bytes).whenComplete { result in
            switch result {
            case .success where !isEnd: channel.read()
            // Nothing is read any more, which also holds back the sender.
            case .success where self.isHeldAtEnd: break
            case .success, .failure:
                other.close(promise: nil)
                channel.close(promise: nil)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Answers the first bytes of a request, takes the rest of what comes, and hangs up when the other does.
private final class CannedAnswer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let text: String
    private let isDone = NIOLockedValueBox(false)

    init(text: String) { self.text = text }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isFirst = isDone.withLockedValue { isDone in
            defer { isDone = true }
            return !isDone
        }
        if isFirst { context.channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }
        context.read()
    }
}
