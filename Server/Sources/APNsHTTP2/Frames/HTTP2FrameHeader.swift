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
