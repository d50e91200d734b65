import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// HTTP/1.1 connections that keep to `ConnectionLimits`.
struct GuardedHTTP1Channel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let base: HTTP1Channel
    private let limits: ConnectionLimits
    private let allowance: ConnectionAllowance

    init(responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, allowance: ConnectionAllowance) {
        base = HTTP1Channel(responder: responder, configuration: .init(idleTimeout: limits.idleTime))
        self.limits = limits
        self.allowance = allowance
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard allowance.admit() else {
            return channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ConnectionRefusal())
            }.flatMap {
                base.setup(channel: channel, logger: logger).map { $0.keptWhileOpen() }
            }
        }
        channel.closeFuture.whenComplete { [allowance] _ in allowance.release() }
        return configure(channel, logger: logger)
    }

    /// Sets up a connection that was let in already; under TLS behind the handlers of TLS.
    func configure(_ channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let wire = try? pipeline.handler(type: WireCount.self)
            try pipeline.addHandler(ConnectionGuard(limits: limits, metrics: allowance.metrics, wire: wire))
        }.flatMap {
            base.setup(channel: channel, logger: logger).map { $0.keptWhileOpen() }
        }.flatMapThrowing { value in
            try Self.addBoundaries(to: channel)
            return value
        }
    }

    private static func addBoundaries(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let connection = try pipeline.handler(type: ConnectionGuard.self)
        try pipeline.addHandler(RequestBoundaries(connection: connection), position: .after(decoder))
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}

extension HTTPServerBuilder {
    /// An HTTP/1.1 server whose connections keep to limits.
    public static func guarded(allowance: ConnectionAllowance) -> Self {
        .init { responder in GuardedHTTP1Channel(responder: responder, limits: ConnectionLimits(), allowance: allowance) }
    }
}

/// Answers a connection that is one too many, before it can say what it wants.
final class ConnectionRefusal: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        let answer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        context.fireChannelActive()
        context.close(promise: nil)
    }

    /// Ignores what the client sends.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

/// Runs tasks on an event loop.
///
/// What a connection's requests do between two waits is short, and next comes the connection again: handled on its own loop, a
/// request changes threads only where it waits for another, and its answer leaves without waking another thread.
final class EventLoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The task that this job belongs to holds the executor until the job has run.
        let executor = asUnownedTaskExecutor()
        loop.execute { job.runSynchronously(on: executor) }
    }
}

extension ServerChildChannelValue {
    /// Keeps what belongs to a connection for as long as the connection is open. A server that stops drops the connections that it
    /// accepted and has not begun with, and NIO ends the whole process when the writer of an open connection is dropped.
    func keptWhileOpen() -> Self {
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(self) {} }
        return self
    }
}
