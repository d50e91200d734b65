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

    // The payload of each type of frame (RFC 9113, 6).

    private static func data(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        let stream = try onStream(header)
        let body = try withoutPadding(header, payload)
        return .data(
            stream: stream, body: body, flowControlled: header.length, endStream: header.has(HTTP2FrameHeader.Flag.endStream))
    }

    private static func headers(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        let stream = try onStream(header)
        var fragment = try withoutPadding(header, payload)
        if header.has(HTTP2FrameHeader.Flag.priority) {
            guard fragment.readableBytes >= 5 else { throw HTTP2Fault(.frameSizeError, "headers too short for their priority") }
            fragment.moveReaderIndex(forwardBy: 5)
        }
        return .headers(
            stream: stream, fragment: fragment, endStream: header.has(HTTP2FrameHeader.Flag.endStream),
            endHeaders: header.has(HTTP2FrameHeader.Flag.endHeaders))
    }

    private static func settings(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "settings on a stream") }
        if header.has(HTTP2FrameHeader.Flag.acknowledgement) {
            guard header.length == 0 else { throw HTTP2Fault(.frameSizeError, "a settings acknowledgement with content") }
            return .settingsAcknowledgement
        }
        guard header.length % 6 == 0 else { throw HTTP2Fault(.frameSizeError, "settings that are not whole") }
        var settings = HTTP2Settings()
        var payload = payload
        while let (identifier, value) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) {
            try settings.set(identifier, to: value)
        }
        return .settings(settings)
    }

    private static func windowUpdate(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        guard header.length == 4, let value = payload.getInteger(at: payload.readerIndex, as: UInt32.self) else {
            throw HTTP2Fault(.frameSizeError, "a window update that is not four bytes")
        }
        return .windowUpdate(stream: header.stream, increment: value & 0x7FFF_FFFF)
    }

    private static func resetStream(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        let stream = try onStream(header)
        guard header.length == 4, let code = payload.getInteger(at: payload.readerIndex, as: UInt32.self) else {
            throw HTTP2Fault(.frameSizeError, "a reset that is not four bytes")
        }
        return .resetStream(stream: stream, code: HTTP2ErrorCode(rawValue: code))
    }

    private static func ping(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "a ping on a stream") }
        guard header.length == 8, let value = payload.getInteger(at: payload.readerIndex, as: UInt64.self) else {
            throw HTTP2Fault(.frameSizeError, "a ping that is not eight bytes")
        }
        return header.has(HTTP2FrameHeader.Flag.acknowledgement) ? .pingAcknowledgement(value) : .ping(value)
    }

    private static func goAway(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "a GOAWAY on a stream") }
        var payload = payload
        guard let (last, code) = payload.readMultipleIntegers(as: (UInt32, UInt32).self) else {
            throw HTTP2Fault(.frameSizeError, "a GOAWAY that is too short")
        }
        return .goAway(lastStream: last & 0x7FFF_FFFF, code: HTTP2ErrorCode(rawValue: code), debug: payload)
    }

    private static func onStream(_ header: HTTP2FrameHeader) throws(HTTP2Fault) -> UInt32 {
        guard header.stream != 0 else { throw HTTP2Fault(.protocolError, "a stream's frame on the connection") }
        return header.stream
    }

    private static func withoutPadding(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> ByteBuffer {
        guard header.has(HTTP2FrameHeader.Flag.padded) else { return payload }
        var payload = payload
        guard let padding = payload.readInteger(as: UInt8.self), Int(padding) <= payload.readableBytes,
            let content = payload.readSlice(length: payload.readableBytes - Int(padding))
        else { throw HTTP2Fault(.protocolError, "padding longer than its frame") }
        return content
    }
}
