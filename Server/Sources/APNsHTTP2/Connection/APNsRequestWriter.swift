import APNsProtocol
import NIOCore

/// Writes a request whose constant parts are prepared: two frames in one piece of memory, nothing allocated.
struct APNsRequestWriter {
    let beforePath: [UInt8]
    let afterPath: [UInt8]
    /// The representation and name of `apns-id`.
    let idPrefix: [UInt8]
    let stream: UInt32

    /// `:path` as a literal without indexing, by its name in the static table (RFC 7541, 6.2.2).
    private static let pathLiteral: UInt8 = 0x04

    /// Appends the HEADERS frame, and with `withBody` the DATA frame. The token must not be longer than `HuffmanHex.longestToken`.
    @inline(__always)
    func write(_ push: UnsafePointer<APNsPush>, withBody: Bool, to output: inout ByteBuffer) {
        let tokenSize = push.pointee.deviceToken.utf8.count
        let bodySize = withBody ? push.pointee.payload.count : 0
        let room = 2 * HTTP2FrameHeader.size + beforePath.count + afterPath.count + idPrefix.count + tokenSize + bodySize + 64
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { memory in
            guard let start = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
            var end = start + HTTP2FrameHeader.size
            end = copy(beforePath, to: end)
            end = writePath(push, to: end)
            end = copy(afterPath, to: end)
            if let id = push.pointee.apnsID {
                end = copy(idPrefix, to: end)
                end += withUnsafeBytes(of: id.uuid) { HuffmanHex.writeUUID($0, to: end) }
            }
            writeFrameHeader(
                start, length: end - start - HTTP2FrameHeader.size, kind: HTTP2FrameHeader.Kind.headers,
                flags: HTTP2FrameHeader.Flag.endHeaders)
            if withBody {
                writeFrameHeader(
                    end, length: bodySize, kind: HTTP2FrameHeader.Kind.data, flags: HTTP2FrameHeader.Flag.endStream)
                end = copy(push.pointee.payload, to: end + HTTP2FrameHeader.size)
            }
            return end - start
        }
    }

    @inline(__always)
    private func writePath(_ push: UnsafePointer<APNsPush>, to memory: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    {
        memory.pointee = Self.pathLiteral
        let utf8 = push.pointee.deviceToken.utf8
        let size =
            utf8.withContiguousStorageIfAvailable { HuffmanHex.writeDevicePath($0, to: memory + 1) }
            ?? Array(utf8).withUnsafeBufferPointer { HuffmanHex.writeDevicePath($0, to: memory + 1) }
        return memory + 1 + size
    }

    @inline(__always)
    private func copy(_ bytes: [UInt8], to memory: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        bytes.withUnsafeBufferPointer { bytes in
            if let source = bytes.baseAddress { memory.update(from: source, count: bytes.count) }
        }
        return memory + bytes.count
    }

    @inline(__always)
    private func writeFrameHeader(_ memory: UnsafeMutablePointer<UInt8>, length: Int, kind: UInt8, flags: UInt8) {
        let first = UInt64(length) << 40 | UInt64(kind) << 32 | UInt64(flags) << 24 | UInt64(stream) >> 8
        UnsafeMutableRawPointer(memory).storeBytes(of: first.bigEndian, as: UInt64.self)
        memory[8] = UInt8(truncatingIfNeeded: stream)
    }
}
