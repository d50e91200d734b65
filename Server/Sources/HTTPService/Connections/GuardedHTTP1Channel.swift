import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// HTTP/1.1 connections that keep to `ConnectionLimits`.
struct GuardedHTTP1Channel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let base: HTTP1Channel
    let limits: ConnectionLimits
    let allowance: ConnectionAllowance

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let isAdmitted = allowance.admit()
        if isAdmitted { channel.closeFuture.whenComplete { [allowance] _ in allowance.release() } }
        return channel.eventLoop.makeCompletedFuture {
            let first: any ChannelHandler =
                isAdmitted ? ConnectionGuard(limits: limits, metrics: allowance.metrics) : ConnectionRefusal()
            try channel.pipeline.syncOperations.addHandler(first)
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            if isAdmitted { try Self.addBoundaries(to: channel) }
            return value
        }
    }

    private static func addBoundaries(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let connection = try pipeline.handler(type: ConnectionGuard.self)
        try pipeline.addHandler(RequestBoundaries(connection: connection), position: .after(decoder))
    }

    func handle(value: Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension HTTPServerBuilder {
    /// An HTTP/1.1 server whose connections keep to limits, as every listener of the product uses.
    public static func guarded(_ limits: ConnectionLimits = ConnectionLimits(), allowance: ConnectionAllowance) -> Self {
        .init { responder in
            GuardedHTTP1Channel(
                base: HTTP1Channel(responder: responder, configuration: .init(idleTimeout: limits.idleTime)),
                limits: limits, allowance: allowance)
        }
    }
}
