import APNsProtocol
import NIOCore

/// Writes a request whose constant parts are prepared: two frames in one piece of memory, nothing allocated.
struct APNsRequestWriter {
    /// What is the same for many requests: the fields before the path, those after it, and the representation and name of
    /// `apns-id` when that is in the peer's table. In one array, so that a request holds on to one thing.
    struct Parts {
        var bytes: [UInt8] = []
        /// Where the path goes.
        var path = 0
        /// Where the name of `apns-id` begins.
        var idName = 0

        var hasIDName: Bool { idName < bytes.count }
    }

    let parts: Parts
    let stream: UInt32

    /// `:path` as a literal without indexing, by its name in the static table (RFC 7541, 6.2.2).
    private static let pathLiteral: UInt8 = 0x04

    /// Appends the HEADERS frame, and with `withBody` the DATA frame. The token must not be longer than `HuffmanHex.longestToken`.
    @inline(__always)
    func write(_ push: UnsafePointer<APNsPush>, withBody: Bool, to output: inout ByteBuffer) {
        let tokenSize = push.pointee.token.count
        let bodySize = withBody ? push.pointee.payload.count : 0
        let room = 2 * HTTP2FrameHeader.size + parts.bytes.count + tokenSize + bodySize + 64
        parts.bytes.withUnsafeBufferPointer { prepared in
            _ = output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { memory in
                guard let start = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
                let end = writeHeaders(push, prepared, to: start)
                return (withBody ? writeBody(push, to: end) : end) - start
            }
        }
    }

    @inline(__always)
    private func writeHeaders(
        _ push: UnsafePointer<APNsPush>, _ prepared: UnsafeBufferPointer<UInt8>, to start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var end = start + HTTP2FrameHeader.size
        end = copy(prepared, 0..<parts.path, to: end)
        end = writePath(push, to: end)
        end = copy(prepared, parts.path..<parts.idName, to: end)
        if let id = push.pointee.apnsID {
            end = copy(prepared, parts.idName..<prepared.count, to: end)
            end += withUnsafeBytes(of: id.uuid) { HuffmanHex.writeUUID($0, to: end) }
        }
        writeFrameHeader(
            start, length: end - start - HTTP2FrameHeader.size, kind: HTTP2FrameHeader.Kind.headers,
            flags: HTTP2FrameHeader.Flag.endHeaders)
        return end
    }

    @inline(__always)
    private func writeBody(
        _ push: UnsafePointer<APNsPush>, to start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let size = push.pointee.payload.count
        writeFrameHeader(start, length: size, kind: HTTP2FrameHeader.Kind.data, flags: HTTP2FrameHeader.Flag.endStream)
        return push.pointee.payload.withUnsafeBufferPointer { copy($0, 0..<size, to: start + HTTP2FrameHeader.size) }
    }

    @inline(__always)
    private func writePath(_ push: UnsafePointer<APNsPush>, to memory: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    {
        memory.pointee = Self.pathLiteral
        return memory + 1 + push.pointee.token.withBytes { HuffmanHex.writeDevicePath($0, to: memory + 1) }
    }

    @inline(__always)
    private func copy(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, to memory: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        if let source = bytes.baseAddress { memory.update(from: source + range.lowerBound, count: range.count) }
        return memory + range.count
    }

    @inline(__always)
    private func writeFrameHeader(_ memory: UnsafeMutablePointer<UInt8>, length: Int, kind: UInt8, flags: UInt8) {
        let first = UInt64(length) << 40 | UInt64(kind) << 32 | UInt64(flags) << 24 | UInt64(stream) >> 8
        UnsafeMutableRawPointer(memory).storeBytes(of: first.bigEndian, as: UInt64.self)
        memory[8] = UInt8(truncatingIfNeeded: stream)
    }
}
