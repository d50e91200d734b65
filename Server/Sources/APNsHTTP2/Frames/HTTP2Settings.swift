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

    /// Takes one parameter; of repeated ones the last counts. Unknown ones are ignored.
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
