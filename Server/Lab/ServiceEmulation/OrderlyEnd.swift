import NIOCore
import NIOHTTP2

extension ChannelPipeline.SynchronousOperations {
    /// Says in a connection of HTTP/2 that no stream after this one is taken.
    ///
    /// Past the library. After one of its own it takes the connection for ended, and answers what a client has sent by then, such as an
    /// acknowledgement, with PROTOCOL_ERROR.
    public func sendGoAway(last stream: Int) {
        let below = try? context(handlerType: NIOHTTP2Handler.self)
        var frame = ByteBuffer()
        // Eight bytes of the type 7, without flags, for the connection; the last stream; and no error (RFC 9113, 6.8).
        frame.writeMultipleIntegers(UInt32(8 << 8 | 7), UInt8(0), UInt32(0), UInt32(stream), UInt32(0))
        below?.writeAndFlush(NIOAny(frame), promise: nil)
    }
}
