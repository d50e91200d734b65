import Logging
import NIOCore
import NIOWebSocket
import ServiceEmulation

/// One connection of a browser: frames in, the core asked, frames out (Reference/WebPush.md#6-3). Lives on its event loop.
final class BrowserSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// The times of Mozilla's service.
    private static let helloTime: Duration = .seconds(5)
    private static let pingInterval: Duration = .seconds(300)
    private static let pongTime: Duration = .seconds(4)
    /// How long a browser has to answer a close frame.
    private static let closeTime: Duration = .seconds(2)
    /// What may wait for a browser that does not read.
    private static let outboundLimit = 4 << 20

    private let core: PushServiceCore
    private let logger: Logger
    private var context: ChannelHandlerContext?
    private var number: Int?
    private var isClosing = false
    private var outbound = 0
    private var timers: [Task<Void, Never>] = []
    private var pong: Task<Void, Never>?

    init(core: PushServiceCore, logger: Logger) { (self.core, self.logger) = (core, logger) }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let (eventLoop, bound) = (context.eventLoop, NIOLoopBound(self, eventLoop: context.eventLoop))
        // Each instruction goes the same way, through the queue of the event loop, so that none passes another.
        let number = core.open { action in eventLoop.execute { bound.value.obey(action) } }
        self.number = number
        after(Self.helloTime) { $0.core.helloIsDue(number) }
        pingLater()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    /// The connection is gone.
    private func leave() {
        context = nil
        for timer in timers { timer.cancel() }
        timers = []
        pong?.cancel()
        if let number { core.closed(number) }
        number = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard let number else { return }
        switch frame.opcode {
        case .text:
            let bytes = frame.unmaskedData.readableBytesView
            guard !isClosing else { return }
            guard let text = String(validating: bytes, as: UTF8.self) else { return core.close(number, .badMessage) }
            core.receive(text, on: number)
        case .binary: core.close(number, .binaryFrame)
        case .ping: write(.init(fin: true, opcode: .pong, data: frame.unmaskedData))
        case .pong: pong?.cancel()
        case .connectionClose: finish(echoing: frame.unmaskedData)
        default: core.close(number, .badMessage)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The close frame was written before.
        if event is PushShutdown { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// A frame that is too long or against the protocol.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("A browser's connection to the local push service met an error", metadata: ["error": "\(error)"])
        guard let number else { return context.close(promise: nil) }
        let isTooLong =
            switch error {
            case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge,
                NIOWebSocketFrameAggregator.Error.tooManyFragments:
                true
            default: false
            }
        core.close(number, isTooLong ? .tooLong : .badMessage)
    }

    private func obey(_ action: BrowserInstruction.Action) {
        guard context != nil, !isClosing else { return }
        switch action {
        case .send(let text): write(.init(fin: true, opcode: .text, data: ByteBuffer(string: text)))
        case .close(let reason):
            isClosing = true
            var data = ByteBuffer()
            data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(reason.code)))
            data.writeString(reason.rawValue)
            write(.init(fin: true, opcode: .connectionClose, data: data))
            // The browser answers, or the connection ends all the same.
            after(Self.closeTime) { $0.context?.close(promise: nil) }
        }
    }

    /// The browser closes, or has answered a close frame.
    private func finish(echoing data: ByteBuffer) {
        let code = data.getSlice(at: data.readerIndex, length: min(2, data.readableBytes)) ?? ByteBuffer()
        if !isClosing { write(.init(fin: true, opcode: .connectionClose, data: code)) }
        isClosing = true
        context?.close(promise: nil)
    }

    private func write(_ frame: WebSocketFrame) {
        guard let context else { return }
        let size = frame.length
        guard outbound + size <= Self.outboundLimit else { return context.close(promise: nil) }
        outbound += size
        context.writeAndFlush(wrapOutboundOut(frame)).assumeIsolated().whenComplete { _ in self.outbound -= size }
    }

    /// A ping of the WebSocket, after which the pong has to come.
    private func pingLater() {
        after(Self.pingInterval) { handler in
            handler.write(.init(fin: true, opcode: .ping, data: ByteBuffer()))
            handler.pong = handler.timer(Self.pongTime) { handler in
                if let number = handler.number { handler.core.close(number, .silent) }
            }
            handler.pingLater()
        }
    }

    private func after(_ delay: Duration, _ body: @escaping @Sendable (BrowserSocketHandler) -> Void) {
        guard let timer = timer(delay, body) else { return }
        // Few are there: hello, one ping and one close.
        timers = timers.suffix(3) + [timer]
    }

    private func timer(_ delay: Duration, _ body: @escaping @Sendable (BrowserSocketHandler) -> Void) -> Task<Void, Never>? {
        LoopTimer.start(delay, of: self, in: context, clock: core.clock, body)
    }
}
