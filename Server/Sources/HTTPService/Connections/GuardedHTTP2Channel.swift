import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore

/// Connections of HTTP/2 that keep to `ConnectionLimits`, for clients that know beforehand that the server speaks it.
struct GuardedHTTP2Channel: ServerChildChannel {
    typealias Value = HTTP2Channel.Value

    private let base: HTTP2Channel
    private let limits: ConnectionLimits
    private let allowance: ConnectionAllowance

    init(responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, allowance: ConnectionAllowance) {
        self.limits = limits
        self.allowance = allowance
        let metrics = allowance.metrics
        base = HTTP2Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: .nanoseconds(limits.idleTime.nanoseconds),
                gracefulCloseTimeout: .nanoseconds(limits.lingerTime.nanoseconds),
                streamConfiguration: .init(additionalChannelHandlers: [HTTP2StreamGuardPlacer(limits: limits, metrics: metrics)]))
        )
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        if allowance.admit() {
            channel.closeFuture.whenComplete { [allowance] _ in allowance.release() }
        } else {
            // Whoever speaks HTTP/2 cannot be told anything before the connection stands.
            channel.close(promise: nil)
        }
        return configure(channel, logger: logger)
    }

    /// Sets up a connection that was let in already.
    func configure(_ channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(HTTP2ConnectionGuard(limits: limits))
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}

extension HTTPServerBuilder {
    /// A server for HTTP/2 without TLS whose connections keep to limits.
    public static func guardedHTTP2(
        _ limits: ConnectionLimits = ConnectionLimits(), allowance: ConnectionAllowance
    ) -> Self {
        .init { responder in
            GuardedHTTP2Channel(responder: ListenerScheme.http.marking(responder), limits: limits, allowance: allowance)
        }
    }
}
