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

/// The nine bytes before each frame (RFC 9113, 4.1).
struct HTTP2FrameHeader: Hashable {
    /// RFC 9113, 6. Other types are ignored.
    enum Kind {
        static let data: UInt8 = 0x0
        static let headers: UInt8 = 0x1
        static let priority: UInt8 = 0x2
        static let resetStream: UInt8 = 0x3
        static let settings: UInt8 = 0x4
        static let pushPromise: UInt8 = 0x5
        static let ping: UInt8 = 0x6
        static let goAway: UInt8 = 0x7
        static let windowUpdate: UInt8 = 0x8
        static let continuation: UInt8 = 0x9
    }

    enum Flag {
        static let acknowledgement: UInt8 = 0x1
        static let endStream: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    static let size = 9

    var length: Int
    var kind: UInt8
    var flags: UInt8
    var stream: UInt32

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
}

/// The parameters of one SETTINGS frame that this client heeds (RFC 9113, 6.5.2); absent ones stay as they were.
struct HTTP2Settings: Hashable {
    enum Identifier {
        static let headerTableSize: UInt16 = 0x1
        static let enablePush: UInt16 = 0x2
        static let maximumConcurrentStreams: UInt16 = 0x3
        static let initialWindowSize: UInt16 = 0x4
        static let maximumFrameSize: UInt16 = 0x5
        static let maximumHeaderListSize: UInt16 = 0x6
    }

    var headerTableSize: UInt32?
    var maximumConcurrentStreams: UInt32?
    var initialWindowSize: UInt32?
    var maximumFrameSize: UInt32?

    /// Takes one parameter; the last of several with one identifier counts. Unknown ones are ignored.
    mutating func set(_ identifier: UInt16, to value: UInt32) throws(HTTP2Fault) {
        switch identifier {
        case Identifier.headerTableSize: headerTableSize = value
        case Identifier.enablePush:
            // A server may say 0 only (RFC 9113, 6.5.2).
            guard value == 0 else { throw HTTP2Fault(.protocolError, "a server cannot enable push") }
        case Identifier.maximumConcurrentStreams: maximumConcurrentStreams = value
        case Identifier.initialWindowSize:
            guard value <= 0x7FFF_FFFF else { throw HTTP2Fault(.flowControlError, "initial window above the maximum") }
            initialWindowSize = value
        case Identifier.maximumFrameSize:
            guard (16_384...16_777_215).contains(value) else { throw HTTP2Fault(.protocolError, "frame size out of range") }
            maximumFrameSize = value
        default: break
        }
    }
}

/// RFC 9113, 7. Unknown codes are kept as they came.
struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt32

    static let noError = HTTP2ErrorCode(rawValue: 0x0)
    static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xB)
    static let http11Required = HTTP2ErrorCode(rawValue: 0xD)
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
