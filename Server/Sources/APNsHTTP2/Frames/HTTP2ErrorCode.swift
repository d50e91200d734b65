/// RFC 9113, 7. Unknown codes are kept as they came.
struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt32

    static let noError = HTTP2ErrorCode(rawValue: 0x0)
    static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    static let connectError = HTTP2ErrorCode(rawValue: 0xA)
    static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xB)
}

/// The peer broke HTTP/2 so that the connection cannot go on (RFC 9113, 5.4.1).
struct HTTP2Fault: Error, Hashable, Sendable {
    /// What the closing GOAWAY says.
    let code: HTTP2ErrorCode
    /// A static sentence for the log.
    let explanation: String

    init(_ code: HTTP2ErrorCode, _ explanation: StaticString) {
        self.code = code
        self.explanation = "\(explanation)"
    }
}
