import NIOCore
import NIOEmbedded
import NIOHPACK

@testable import APNsEmulation

/// A connection without a socket, on which a test decides what arrives together.
final class WireBytes {
    let channel = EmbeddedChannel()
    private let fixture: EmulatorFixture
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var scanner = FrameScanner(skipsPreface: false)

    init(_ fixture: EmulatorFixture) throws {
        self.fixture = fixture
        try fixture.apns.listeners[0].configure(channel.pipeline.syncOperations, tls: nil)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var bytes = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        bytes.writeImmutableBuffer(Self.frame(4, stream: 0, []))
        bytes.writeImmutableBuffer(Self.frame(4, flags: 1, stream: 0, []))
        try channel.writeInbound(bytes)
    }

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int, _ payload: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer(bytes: [
            UInt8(payload.count >> 16 & 255), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255), type, flags,
        ])
        buffer.writeInteger(UInt32(stream))
        buffer.writeBytes(payload)
        return buffer
    }

    /// A push on a stream, with a body of this size.
    func push(_ stream: Int, size: Int) throws -> ByteBuffer {
        let headers = HPACKHeaders([
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/" + fixture.token), (":authority", "localhost"),
            ("authorization", fixture.authorization), ("apns-topic", EmulatorFixture.bundleID), ("apns-push-type", "alert"),
        ])
        var block = ByteBuffer()
        try encoder.encode(headers: headers, to: &block)
        var bytes = Self.frame(1, flags: 4, stream: stream, Array(block.readableBytesView))
        bytes.writeImmutableBuffer(Self.frame(0, flags: 1, stream: stream, [UInt8](repeating: 0x20, count: size)))
        return bytes
    }

    /// Lets all of this arrive in one read, and returns the frames that the emulator sent by then.
    func arrive(_ pieces: ByteBuffer...) throws -> [FrameScanner.Frame] {
        var bytes = ByteBuffer()
        for piece in pieces { bytes.writeImmutableBuffer(piece) }
        if channel.isActive { _ = try? channel.writeInbound(bytes) }
        var frames: [FrameScanner.Frame] = []
        while let sent = try channel.readOutbound(as: IOData.self) {
            if case .byteBuffer(let bytes) = sent { scanner.feed(bytes) { frames.append($0) } }
        }
        return frames
    }
}
