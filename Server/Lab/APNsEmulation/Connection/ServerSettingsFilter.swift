import NIOCore

/// Sits below HTTP/2: takes the entries off SETTINGS frames that only the library was to see, notices the library's GOAWAY, and
/// sends those that the library must not know of.
final class ServerSettingsFilter: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether a GOAWAY of the library left.
    private(set) var hasSentGoAway = false
    /// Bytes of the present frame that come with later writes.
    private var rest = 0
    /// Set while the filter is in a pipeline.
    private var context: ChannelHandlerContext?

    private static let headerSize = 9
    private static let entrySize = 6

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends GOAWAY without the library knowing. After a GOAWAY of its own with no stream open it counts the connection as ended
    /// and answers whatever a client still rightly sends, an acknowledgement or a request that the first of two steps promised to
    /// serve, with PROTOCOL_ERROR. Which streams are still served is the connection's decision anyway.
    func sendGoAway(lastStream: Int, code: UInt32, debugData: String) {
        guard let context else { return }
        let data = debugData.utf8.prefix(16_000)
        let length = 8 + data.count
        var frame = context.channel.allocator.buffer(capacity: Self.headerSize + length)
        frame.writeInteger(UInt32(length) << 8 | 7)
        frame.writeInteger(UInt8(0))
        frame.writeInteger(UInt32(0))
        frame.writeInteger(UInt32(lastStream))
        frame.writeInteger(code)
        frame.writeBytes(data)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(frame)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var buffer) = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        inspect(&buffer)
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: promise)
    }

    /// Walks over the frames in a buffer. A frame begins in a buffer with its whole header; its payload may come later.
    private func inspect(_ buffer: inout ByteBuffer) {
        var position = buffer.readerIndex
        while position < buffer.writerIndex {
            if rest > 0 {
                let taken = min(rest, buffer.writerIndex - position)
                rest -= taken
                position += taken
                continue
            }
            guard let high = buffer.getInteger(at: position, as: UInt16.self),
                let low = buffer.getInteger(at: position + 2, as: UInt8.self),
                let type = buffer.getInteger(at: position + 3, as: UInt8.self)
            else { return }
            let length = Int(high) << 8 | Int(low)
            if type == 7 { hasSentGoAway = true }
            if type == 4, length > 0, dropHiddenEntries(&buffer, frameAt: position, length: length) { return }
            position += Self.headerSize
            rest = length
        }
    }

    /// Shortens a SETTINGS frame that fills the end of the buffer by the entries at its end that are to be hidden.
    private func dropHiddenEntries(_ buffer: inout ByteBuffer, frameAt position: Int, length: Int) -> Bool {
        let start = position + Self.headerSize
        guard start + length == buffer.writerIndex else { return false }
        var shortened = length
        while shortened >= Self.entrySize, isHidden(buffer, entryAt: start + shortened - Self.entrySize) {
            shortened -= Self.entrySize
        }
        guard shortened < length else { return false }
        buffer.setInteger(UInt16(shortened >> 8), at: position)
        buffer.setInteger(UInt8(truncatingIfNeeded: shortened), at: position + 2)
        buffer.moveWriterIndex(to: start + shortened)
        return true
    }

    private func isHidden(_ buffer: ByteBuffer, entryAt position: Int) -> Bool {
        let identifier = buffer.getInteger(at: position, as: UInt16.self)
        let value = buffer.getInteger(at: position + 2, as: UInt32.self)
        return ServerSettings.hidden.contains { $0.identifier == identifier && $0.value == value }
    }
}
