import NIOCore

/// Writes frames.
extension ByteBuffer {
    /// What a client says first (RFC 9113, 3.4).
    mutating func writeHTTP2Preface() { writeString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") }

    /// The nine bytes before a frame.
    mutating func writeHTTP2FrameHeader(length: Int, kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0) {
        writeInteger(UInt64(length) << 40 | UInt64(kind) << 32 | UInt64(flags) << 24 | UInt64(stream) >> 8)
        writeInteger(UInt8(truncatingIfNeeded: stream))
    }

    mutating func writeHTTP2Settings(_ settings: [(identifier: UInt16, value: UInt32)]) {
        writeHTTP2FrameHeader(length: settings.count * 6, kind: HTTP2FrameHeader.Kind.settings)
        for setting in settings { writeMultipleIntegers(setting.identifier, setting.value) }
    }

    mutating func writeHTTP2SettingsAcknowledgement() {
        writeHTTP2FrameHeader(
            length: 0, kind: HTTP2FrameHeader.Kind.settings, flags: HTTP2FrameHeader.Flag.acknowledgement)
    }

    mutating func writeHTTP2Ping(_ value: UInt64, isAcknowledgement: Bool) {
        writeHTTP2FrameHeader(
            length: 8, kind: HTTP2FrameHeader.Kind.ping, flags: isAcknowledgement ? HTTP2FrameHeader.Flag.acknowledgement : 0)
        writeInteger(value)
    }

    mutating func writeHTTP2WindowUpdate(stream: UInt32, increment: UInt32) {
        writeHTTP2FrameHeader(length: 4, kind: HTTP2FrameHeader.Kind.windowUpdate, stream: stream)
        writeInteger(increment)
    }

    mutating func writeHTTP2ResetStream(_ stream: UInt32, code: HTTP2ErrorCode) {
        writeHTTP2FrameHeader(length: 4, kind: HTTP2FrameHeader.Kind.resetStream, stream: stream)
        writeInteger(code.rawValue)
    }

    /// A client's GOAWAY names stream 0, since it accepted none.
    mutating func writeHTTP2GoAway(code: HTTP2ErrorCode) {
        writeHTTP2FrameHeader(length: 8, kind: HTTP2FrameHeader.Kind.goAway)
        writeMultipleIntegers(UInt32(0), code.rawValue)
    }
}
