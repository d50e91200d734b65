import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOConcurrencyHelpers
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
    public static func guardedTLS(_ identity: ServerIdentity, allowance: ConnectionAllowance) -> Self {
        .init { responder in
            GuardedTLSChannel(
                responder: ListenerScheme.https.marking(responder), identity: identity, limits: ConnectionLimits(),
                allowance: allowance)
        }
    }
}

/// Ends a connection whose TLS handshake takes too long.
final class HandshakeDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let limit: TimeAmount
    private let metrics: ConnectionMetrics
    private var timer: Scheduled<Void>?

    init(limit: TimeAmount, metrics: ConnectionMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: limit) { [metrics] in
            metrics.closed(.head)
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { timer?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }
}

/// With what a listener proves who it is: a certificate chain and its key. Both can be replaced while it listens; connections that
/// stand keep what they began with.
public final class ServerIdentity: Sendable {
    /// What is wrong with a chain or key. Nothing of the key is in it.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case chain
        case key
        /// The two do not belong together, or TLS cannot use them.
        case pair

        public var description: String {
            switch self {
            case .chain: "the certificate file holds no PEM certificates"
            case .key: "the key file holds no private key in PEM, or it is encrypted"
            case .pair: "certificate and key do not belong together"
            }
        }
    }

    private let current: NIOLockedValueBox<NIOSSLContext>

    /// Reads chain and key, both PEM, the server's own certificate first.
    public init(chainPEM: String, keyPEM: String) throws(Fault) {
        current = NIOLockedValueBox(try Self.context(chainPEM, keyPEM))
    }

    /// Takes another chain and key for connections from now on; throws and changes nothing when they are not fit for use.
    public func replace(chainPEM: String, keyPEM: String) throws(Fault) {
        let context = try Self.context(chainPEM, keyPEM)
        current.withLockedValue { $0 = context }
    }

    /// For TLS 1.2: forward secrecy, and ciphers that authenticate what they encrypt. CBC is not among them (RFC 9325, 4.2).
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    var context: NIOSSLContext { current.withLockedValue { $0 } }

    private static func context(_ chainPEM: String, _ keyPEM: String) throws(Fault) -> NIOSSLContext {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(chainPEM.utf8)), !chain.isEmpty else { throw .chain }
        guard let key = try? NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem) else { throw .key }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        tls.cipherSuiteValues = Self.cipherSuites
        tls.applicationProtocols = ["h2", "http/1.1"]
        do { return try NIOSSLContext(configuration: tls) } catch { throw .pair }
    }
}

/// How requests reach a listener. What a client says of the scheme counts for nothing.
enum ListenerScheme: String {
    case http
    case https

    /// The responder, given the true scheme of every request.
    func marking(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
        { (request: Request, writer: consuming ResponseWriter, channel: any Channel) async throws in
            var head = request.head
            head.scheme = rawValue
            try await responder(Request(head: head, body: request.body), writer, channel)
        }
    }
}

extension Request {
    /// Whether the request came over TLS that ends in this process. A proxy in front may have ended another.
    public var cameOverTLS: Bool { head.scheme == ListenerScheme.https.rawValue }
}
