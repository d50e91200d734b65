import NIOCore

/// Cuts frames out of a byte stream. Pure; what it keeps is bounded by one frame.
struct HTTP2FrameReader {
    /// What our SETTINGS allow the peer: the default, since no frame of APNs comes near it.
    static let maximumFrameSize = 16_384

    /// The next frame, or `nil` when the buffer does not hold a whole one yet.
    static func next(_ buffer: inout ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame? {
        guard let header = peekHeader(buffer) else { return nil }
        guard header.length <= maximumFrameSize else { throw HTTP2Fault(.frameSizeError, "a frame above the announced size") }
        guard buffer.readableBytes >= HTTP2FrameHeader.size + header.length else { return nil }
        buffer.moveReaderIndex(forwardBy: HTTP2FrameHeader.size)
        guard let payload = buffer.readSlice(length: header.length) else { return nil }
        return try frame(header, payload)
    }

    private static func peekHeader(_ buffer: ByteBuffer) -> HTTP2FrameHeader? {
        let start = buffer.readerIndex
        guard let first = buffer.getInteger(at: start, as: UInt64.self), buffer.readableBytes >= HTTP2FrameHeader.size,
            let last = buffer.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        // The highest bit of the stream is reserved and ignored (RFC 9113, 4.1).
        return HTTP2FrameHeader(
            length: Int(first >> 40), kind: UInt8(truncatingIfNeeded: first >> 32),
            flags: UInt8(truncatingIfNeeded: first >> 24), stream: last & 0x7FFF_FFFF)
    }

    private static func frame(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        switch header.kind {
        case HTTP2FrameHeader.Kind.headers: try headers(header, payload)
        case HTTP2FrameHeader.Kind.data: try data(header, payload)
        case HTTP2FrameHeader.Kind.windowUpdate: try windowUpdate(header, payload)
        case HTTP2FrameHeader.Kind.settings: try settings(header, payload)
        case HTTP2FrameHeader.Kind.resetStream: try resetStream(header, payload)
        case HTTP2FrameHeader.Kind.ping: try ping(header, payload)
        case HTTP2FrameHeader.Kind.goAway: try goAway(header, payload)
        case HTTP2FrameHeader.Kind.continuation:
            .continuation(
                stream: try onStream(header), fragment: payload, endHeaders: header.has(HTTP2FrameHeader.Flag.endHeaders))
        case HTTP2FrameHeader.Kind.pushPromise: throw HTTP2Fault(.protocolError, "a push promise, which was not enabled")
        default: .ignored
        }
    }
}
