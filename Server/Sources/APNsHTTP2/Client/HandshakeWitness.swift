import NIOCore
import NIOSSL
import NIOTLS

/// Sees how one TLS handshake ends.
final class HandshakeWitness: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// What the server showed.
    struct Shown: Sendable {
        var negotiated: String?
        var certificate: NIOSSLCertificate?
    }

    private let promise: EventLoopPromise<Shown>

    init(_ promise: EventLoopPromise<Shown>) { self.promise = promise }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            let certificate = try? context.channel.pipeline.syncOperations.nioSSL_peerCertificate()
            promise.succeed(Shown(negotiated: negotiated, certificate: certificate))
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
