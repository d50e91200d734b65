import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTP2

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
            // An HTTP/2 client cannot be sent an answer before the connection is established.
            channel.close(promise: nil)
        }
        return configure(channel, logger: logger)
    }

    /// Sets up a connection that was let in already.
    func configure(_ channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(HTTP2ConnectionGuard(limits: limits))
        }.flatMap {
            base.setup(channel: channel, logger: logger).map { $0.keptWhileOpen() }
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let engine = try pipeline.handler(type: NIOHTTP2Handler.self)
            try pipeline.addHandlers(MalformedRequestFilter(), HeaderListAllowance(), position: .after(engine))
            return value
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
    public static func guardedHTTP2(allowance: ConnectionAllowance) -> Self {
        .init { responder in
            GuardedHTTP2Channel(
                responder: ListenerScheme.http.marking(responder), limits: ConnectionLimits(), allowance: allowance)
        }
    }
}

/// Keeps a connection whose client sent a malformed request, for the sake of its other requests.
///
/// A malformed request is an error of its stream (RFC 9113, 8.1.1), which the engine has reset before it reports the error. The handler
/// behind this one would close the connection for any error. The engine itself limits the number of such streams.
private final class MalformedRequestFilter: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !Self.isOfOneStream(error) { context.fireErrorCaught(error) }
    }

    /// The kinds of fault that the engine finds in a header list or in a length.
    private static func isOfOneStream(_ error: any Error) -> Bool {
        switch error {
        case is NIOHTTP2Errors.ForbiddenHeaderField, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName,
            is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue, is NIOHTTP2Errors.MissingPseudoHeader,
            is NIOHTTP2Errors.DuplicatePseudoHeader, is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader,
            is NIOHTTP2Errors.UnknownPseudoHeader, is NIOHTTP2Errors.UnsupportedPseudoHeader,
            is NIOHTTP2Errors.InvalidPseudoHeaders, is NIOHTTP2Errors.InvalidPseudoHeaderValue,
            is NIOHTTP2Errors.EmptyPathHeader, is NIOHTTP2Errors.MissingHostHeader, is NIOHTTP2Errors.DuplicateHostHeader,
            is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
            is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue,
            is NIOHTTP2Errors.TrailersWithoutEndStream:
            true
        default: false
        }
    }
}

/// Lets a client send longer header lists than the engine's 16 KiB, so that `ServiceResponder` can answer one that is too long.
///
/// The engine closes the connection for a list beyond its limit, with all its other streams; RFC 9113, 10.5.1 allows that and
/// prefers an answer. Its limit is the one that was announced, and counts once the client has acknowledged it: only what comes with
/// a connection's first bytes still meets the small one.
private final class HeaderListAllowance: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// In bytes, with 32 for each field (RFC 9113, 6.5.2): twice what is accepted.
    static let announced = 128 << 10

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { announce(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        announce(context)
        context.fireChannelActive()
    }

    private func announce(_ context: ChannelHandlerContext) {
        let settings = [HTTP2Setting(parameter: .maxHeaderListSize, value: Self.announced)]
        context.write(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings)))), promise: nil)
        // Now would read, too, while others still set up the connection. Later would be after the first request.
        let channel = context.channel
        context.eventLoop.execute { channel.flush() }
    }
}
