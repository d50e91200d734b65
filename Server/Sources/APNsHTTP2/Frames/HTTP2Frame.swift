import NIOCore

/// A frame from the server, checked for its own form. What it means is decided by `HTTP2Connection`.
enum HTTP2Frame: Equatable {
    /// `flowControlled` counts the padding too (RFC 9113, 6.1).
    case data(stream: UInt32, body: ByteBuffer, flowControlled: Int, endStream: Bool)
    case headers(stream: UInt32, fragment: ByteBuffer, endStream: Bool, endHeaders: Bool)
    case continuation(stream: UInt32, fragment: ByteBuffer, endHeaders: Bool)
    case resetStream(stream: UInt32, code: HTTP2ErrorCode)
    case settings(HTTP2Settings)
    case settingsAcknowledgement
    case ping(UInt64)
    case pingAcknowledgement(UInt64)
    case goAway(lastStream: UInt32, code: HTTP2ErrorCode, debug: ByteBuffer)
    case windowUpdate(stream: UInt32, increment: UInt32)
    /// PRIORITY, and types that this client does not know (RFC 9113, 4.1 and 5.5).
    case ignored
}
