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
                base.setup(channel: channel, logger: logger)
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
            base.setup(channel: channel, logger: logger)
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
    public static func guarded(_ limits: ConnectionLimits = ConnectionLimits(), allowance: ConnectionAllowance) -> Self {
        .init { responder in GuardedHTTP1Channel(responder: responder, limits: limits, allowance: allowance) }
    }
}
