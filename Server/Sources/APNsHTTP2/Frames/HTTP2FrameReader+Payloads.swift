import NIOCore

/// The payload of each type of frame (RFC 9113, 6).
extension HTTP2FrameReader {
    static func data(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        let stream = try onStream(header)
        let body = try withoutPadding(header, payload)
        return .data(
            stream: stream, body: body, flowControlled: header.length, endStream: header.has(HTTP2FrameHeader.Flag.endStream))
    }

    static func headers(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
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

    static func settings(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
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

    static func windowUpdate(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        guard header.length == 4, let value = payload.getInteger(at: payload.readerIndex, as: UInt32.self) else {
            throw HTTP2Fault(.frameSizeError, "a window update that is not four bytes")
        }
        return .windowUpdate(stream: header.stream, increment: value & 0x7FFF_FFFF)
    }

    static func resetStream(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        let stream = try onStream(header)
        guard header.length == 4, let code = payload.getInteger(at: payload.readerIndex, as: UInt32.self) else {
            throw HTTP2Fault(.frameSizeError, "a reset that is not four bytes")
        }
        return .resetStream(stream: stream, code: HTTP2ErrorCode(rawValue: code))
    }

    static func ping(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "a ping on a stream") }
        guard header.length == 8, let value = payload.getInteger(at: payload.readerIndex, as: UInt64.self) else {
            throw HTTP2Fault(.frameSizeError, "a ping that is not eight bytes")
        }
        return header.has(HTTP2FrameHeader.Flag.acknowledgement) ? .pingAcknowledgement(value) : .ping(value)
    }

    static func goAway(_ header: HTTP2FrameHeader, _ payload: ByteBuffer) throws(HTTP2Fault) -> HTTP2Frame {
        guard header.stream == 0 else { throw HTTP2Fault(.protocolError, "a GOAWAY on a stream") }
        var payload = payload
        guard let (last, code) = payload.readMultipleIntegers(as: (UInt32, UInt32).self) else {
            throw HTTP2Fault(.frameSizeError, "a GOAWAY that is too short")
        }
        return .goAway(lastStream: last & 0x7FFF_FFFF, code: HTTP2ErrorCode(rawValue: code), debug: payload)
    }

    static func onStream(_ header: HTTP2FrameHeader) throws(HTTP2Fault) -> UInt32 {
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
