import NIOCore

/// A header block that came in pieces: HEADERS and then CONTINUATION (RFC 9113, 6.10), bounded in bytes and in frames.
struct HTTP2HeaderAssembly {
    static let maximumSize = 65_536
    static let maximumFrames = 32

    let stream: UInt32
    let endStream: Bool
    private(set) var block: ByteBuffer
    private var frames = 1

    init(stream: UInt32, endStream: Bool, fragment: ByteBuffer) {
        self.stream = stream
        self.endStream = endStream
        block = fragment
    }

    mutating func append(_ fragment: ByteBuffer) throws(HTTP2Fault) {
        frames += 1
        guard frames <= Self.maximumFrames, block.readableBytes + fragment.readableBytes <= Self.maximumSize else {
            throw HTTP2Fault(.enhanceYourCalm, "a header block without end")
        }
        block.writeImmutableBuffer(fragment)
    }
}
