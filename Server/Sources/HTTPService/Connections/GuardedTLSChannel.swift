import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// Connections over TLS that speak HTTP/2 or HTTP/1.1, as the two sides agree by ALPN, and keep to `ConnectionLimits`.
struct GuardedTLSChannel: ServerChildChannel {
    /// What the two sides agreed on.
    enum Connection: Sendable {
        case http1(HTTP1Channel.Value)
        case http2(HTTP2Channel.Value)
    }

    struct Value: ServerChildChannelValue {
        let connection: EventLoopFuture<Connection>
        let channel: any Channel
    }

    private typealias Negotiation = NIOTypedApplicationProtocolNegotiationHandler<Connection>

    private let http1: GuardedHTTP1Channel
    private let http2: GuardedHTTP2Channel
    private let identity: ServerIdentity
    private let limits: ConnectionLimits
    private let allowance: ConnectionAllowance

    init(
        responder: @escaping HTTPChannelHandler.Responder, identity: ServerIdentity, limits: ConnectionLimits,
        allowance: ConnectionAllowance
    ) {
        http1 = GuardedHTTP1Channel(responder: responder, limits: limits, allowance: allowance)
        http2 = GuardedHTTP2Channel(responder: responder, limits: limits, allowance: allowance)
        self.identity = identity
        self.limits = limits
        self.allowance = allowance
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard allowance.admit() else {
            // An answer would cost a handshake, which is what there is too much of.
            channel.close(promise: nil)
            let refused: EventLoopFuture<Connection> = channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
            return channel.eventLoop.makeSucceededFuture(Value(connection: refused, channel: channel))
        }
        channel.closeFuture.whenComplete { [allowance] _ in allowance.release() }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let negotiation = Negotiation { result in agree(result, channel, logger) }
            try pipeline.addHandlers(
                WireCount(), NIOSSLServerHandler(context: identity.context),
                HandshakeDeadline(limit: limits.headTime, metrics: allowance.metrics))
            try pipeline.addHandler(negotiation)
            return Value(connection: negotiation.protocolNegotiationResult, channel: channel)
        }
    }

    /// A client that offers nothing by ALPN speaks HTTP/1.1.
    private func agree(_ result: ALPNResult, _ channel: any Channel, _ logger: Logger) -> EventLoopFuture<Connection> {
        switch result {
        case .negotiated("h2"): http2.configure(channel, logger: logger).map { .http2($0) }
        default: http1.configure(channel, logger: logger).map { .http1($0) }
        }
    }

    func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.connection.get() {
            case .http1(let connection): await http1.handle(value: connection, logger: logger)
            case .http2(let connection): await http2.handle(value: connection, logger: logger)
            }
        } catch {
            logger.debug("A connection ended before it could ask for anything", metadata: ["error_type": "\(type(of: error))"])
        }
    }
}

extension HTTPServerBuilder {
    /// A server for HTTP/2 and HTTP/1.1 over TLS whose connections keep to limits.
    public static func guardedTLS(
        _ identity: ServerIdentity, limits: ConnectionLimits = ConnectionLimits(), allowance: ConnectionAllowance
    ) -> Self {
        .init { responder in
            GuardedTLSChannel(
                responder: ListenerScheme.https.marking(responder), identity: identity, limits: limits, allowance: allowance)
        }
    }
}
