import Logging
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import RichPushModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One connection to APNs with a TLS handshake and nothing sent over it: finds out whether a client would be able to connect.
public struct APNsHandshakeCheck: Sendable {
    /// What was found.
    public enum Finding: Hashable, Sendable {
        /// Connected, trusted, and HTTP/2 agreed upon.
        case sound
        /// The name has no address.
        case unresolved
        /// This machine has no route to the address: the reason, as the end of a sentence.
        case noRoute(String)
        /// The address answers that nothing listens on the port.
        case portClosed
        /// Nothing answers there in time.
        case unreachable
        /// Something answers, with which no push can be made: the reason, as the end of a sentence.
        case refused(String)
    }

    private let endpoint: APNsClientConfiguration.Endpoint
    private let trust: APNsClientConfiguration.Trust
    private let proxy: APNsProxy?
    private let group: any EventLoopGroup

    /// Creates a check of one endpoint, through `proxy` if there is one.
    public init(
        of endpoint: APNsClientConfiguration.Endpoint, trust: APNsClientConfiguration.Trust, proxy: APNsProxy? = nil,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup
    ) {
        self.endpoint = endpoint
        self.trust = trust
        self.proxy = proxy
        self.group = group
    }

    /// Connects, at most twice; `limit` bounds each. `now` is what the certificate's dates are compared with.
    public func look(within limit: Duration, now: Timestamp) async -> Finding {
        do {
            let shown = try await handshake(verifying: true, within: limit)
            if let name = endpoint.nameInTLS, shown.certificate?.isIssued(toName: name) == false {
                return .refused(TLSErrorDescription.otherName)
            }
            guard shown.negotiated == nil || shown.negotiated == "h2" else { return .refused(TLSErrorDescription.otherProtocol) }
            return .sound
        } catch let fault as HandshakeFailure {
            return .refused(await refusalText(about: fault.error, within: limit, now: now))
        } catch {
            return Self.finding(about: error)
        }
    }

    /// What an error before TLS means. Of several addresses the last one speaks.
    private static func finding(about error: any Error) -> Finding {
        var cause = error
        if let fault = error as? NIOConnectionError {
            guard let last = fault.connectionErrors.last else { return .unresolved }
            cause = last.error
        }
        guard let fault = cause as? IOError else { return .unreachable }
        switch fault.errnoCode {
        case ECONNREFUSED: return .portClosed
        case ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, ENETDOWN, EACCES, EPERM: return .noRoute(fault.description)
        default: return .unreachable
        }
    }

    /// Inspects a refused certificate on a second connection. Nothing is sent there, so skipping the verification is safe.
    private func refusalText(about error: any Error, within limit: Duration, now: Timestamp) async -> String {
        let known = TLSErrorDescription.sentence(for: error)
        guard known.contains("certificate"),
            let certificate = try? await handshake(verifying: false, within: limit).certificate
        else { return known }
        let seconds = now.milliseconds / 1000
        if Int64(certificate.notValidAfter) < seconds { return "the certificate has expired" }
        if Int64(certificate.notValidBefore) > seconds {
            return "the certificate is not valid yet; is this machine's clock right?"
        }
        if let name = endpoint.nameInTLS, !certificate.isIssued(toName: name) { return TLSErrorDescription.otherName }
        return "no authority that is trusted here vouches for the certificate"
    }

    private struct HandshakeFailure: Error { var error: any Error }

    private func handshake(verifying: Bool, within limit: Duration) async throws -> TLSHandshakeObserver.Shown {
        var tls = try TLSConfiguration.apns(trust)
        if !verifying { tls.certificateVerification = .none }
        let context = try NIOSSLContext(configuration: tls)
        let limit = TimeAmount(clamping: limit)
        let promise = group.next().makePromise(of: TLSHandshakeObserver.Shown.self)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: promise.futureResult.eventLoop).connectTimeout(limit)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try self.prepare(channel, context, promise, limit) }
                }
                .connect(host: proxy?.host ?? endpoint.host, port: proxy?.port ?? endpoint.port).get()
        } catch {
            promise.fail(error)
            throw error
        }
        let timer = channel.eventLoop.scheduleTask(in: limit) { promise.fail(ChannelError.connectTimeout(limit)) }
        defer {
            timer.cancel()
            channel.close(promise: nil)
        }
        do { return try await promise.futureResult.get() } catch let error as ChannelError { throw error } catch {
            throw HandshakeFailure(error: error)
        }
    }

    private func prepare(
        _ channel: any Channel, _ context: NIOSSLContext, _ promise: EventLoopPromise<TLSHandshakeObserver.Shown>,
        _ limit: TimeAmount
    ) throws {
        let name = endpoint.nameInTLS
        let addTLS = { (channel: any Channel) in
            try channel.pipeline.syncOperations.addHandlers([
                NIOSSLClientHandler(context: context, serverHostname: name), TLSHandshakeObserver(promise),
            ])
        }
        guard let proxy else { return try addTLS(channel) }
        let tunnel = APNsProxyHandler(
            target: endpoint, proxy: proxy, limit: limit, logger: Logger(label: "clarion.apns"), opened: addTLS,
            failed: { promise.fail($0) })
        try channel.pipeline.syncOperations.addHandler(tunnel)
    }
}

/// Sees how one TLS handshake ends.
private final class TLSHandshakeObserver: ChannelInboundHandler {
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
