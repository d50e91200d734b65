import NIOCore

/// Finds the frames in one direction of a connection, wherever the bytes are cut.
struct FrameScanner {
    /// A frame with its whole payload.
    struct Frame {
        var type: UInt8
        var flags: UInt8
        var stream: Int
        var payload: ByteBuffer
    }

    /// More than any frame of a peer that keeps to MAX_FRAME_SIZE; what comes behind a longer one is not looked at.
    private static let longestFrame = 1 << 17

    private var buffer = ByteBuffer()
    /// Bytes of the client's preface that are still to come.
    private var preface: Int
    private var isLost = false

    init(skipsPreface: Bool) { preface = skipsPreface ? 24 : 0 }

    /// Takes in bytes and hands over every frame that is complete.
    mutating func feed(_ bytes: ByteBuffer, _ found: (Frame) -> Void) {
        guard !isLost else { return }
        buffer.writeImmutableBuffer(bytes)
        let skipped = min(preface, buffer.readableBytes)
        buffer.moveReaderIndex(forwardBy: skipped)
        preface -= skipped
        while preface == 0, let frame = next() { found(frame) }
        buffer.discardReadBytes()
    }

    private mutating func next() -> Frame? {
        let start = buffer.readerIndex
        guard let high = buffer.getInteger(at: start, as: UInt16.self),
            let low = buffer.getInteger(at: start + 2, as: UInt8.self),
            let type = buffer.getInteger(at: start + 3, as: UInt8.self),
            let flags = buffer.getInteger(at: start + 4, as: UInt8.self),
            let stream = buffer.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        let length = Int(high) << 8 | Int(low)
        guard length <= Self.longestFrame else {
            isLost = true
            return nil
        }
        guard buffer.readableBytes >= 9 + length else { return nil }
        buffer.moveReaderIndex(forwardBy: 9)
        return buffer.readSlice(length: length).map {
            Frame(type: type, flags: flags, stream: Int(stream & 0x7FFF_FFFF), payload: $0)
        }
    }
}
