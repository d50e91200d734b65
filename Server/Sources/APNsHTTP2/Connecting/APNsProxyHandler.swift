import APNsProtocol
import Logging
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Asks a proxy for a tunnel. The handlers that use it are added when it stands, because TLS would begin at once on a channel
/// that is active; then this one is gone.
///
/// What it reads is bounded, and the wait has a deadline.
final class APNsProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    static let maximumHead = 8192

    private let authority: String
    private let proxy: APNsProxy
    private let limit: TimeAmount
    private let logger: Logger
    private let opened: (any Channel) throws -> Void
    private let failed: (APNsProxyFault) -> Void
    private var head = ByteBuffer()
    private var deadline: Scheduled<Void>?
    private var isAsking = false
    private var isOver = false

    /// - Parameters:
    ///   - target: where the tunnel ends; its name goes to the proxy as it is.
    ///   - limit: for the proxy's answer.
    ///   - opened: adds the handlers above; called once, unless `failed` is.
    init(
        target: APNsClientConfiguration.Endpoint, proxy: APNsProxy, limit: TimeAmount, logger: Logger,
        opened: @escaping (any Channel) throws -> Void, failed: @escaping (APNsProxyFault) -> Void
    ) {
        self.opened = opened
        self.failed = failed
        let host = target.host.contains(":") ? "[\(target.host)]" : target.host
        authority = "\(host):\(target.port)"
        self.proxy = proxy
        self.limit = limit
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { ask(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        ask(context)
        context.fireChannelActive()
    }

    private func ask(_ context: ChannelHandlerContext) {
        guard !isAsking else { return }
        isAsking = true
        var request = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let credentials = proxy.credentials {
            let encoded = Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString()
            request += "Proxy-Authorization: Basic \(encoded)\r\n"
        }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.fail(.noAnswer, context) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request + "\r\n")), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        var bytes = unwrapInboundIn(data)
        head.writeBuffer(&bytes)
        let view = head.readableBytesView
        guard let end = view.firstRange(of: Array("\r\n\r\n".utf8)) else {
            if head.readableBytes > Self.maximumHead { fail(.malformed, context) }
            return
        }
        let status = Self.status(view[view.startIndex..<end.lowerBound])
        head.moveReaderIndex(to: end.upperBound)
        switch status {
        case 200..<300: stand(context)
        case 407: fail(.unauthorized, context)
        case 0: fail(.malformed, context)
        default: fail(.refused(status: status), context)
        }
    }

    private func stand(_ context: ChannelHandlerContext) {
        isOver = true
        deadline?.cancel()
        do {
            try opened(context.channel)
        } catch {
            // No handler above has seen the channel yet, so none of them would report the failure.
            isOver = false
            return fail(.unusable, context)
        }
        if head.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(head))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func fail(_ fault: APNsProxyFault, _ context: ChannelHandlerContext) {
        guard !isOver else { return }
        isOver = true
        deadline?.cancel()
        logger.warning(
            "The proxy gives no way to APNs", metadata: ["host": "\(proxy)", "error": "\(fault)"])
        failed(fault)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed, context)
        context.fireChannelInactive()
    }

    /// The number in `HTTP/1.x NNN …`; 0 for anything else.
    private static func status(_ head: ByteBufferView) -> Int {
        let line = head.prefix { $0 != 0x0D && $0 != 0x0A }
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count >= 2, parts[0].starts(with: Array("HTTP/1.".utf8)), parts[1].count == 3 else { return 0 }
        return Int(String(decoding: parts[1], as: UTF8.self)) ?? 0
    }
}
