import APNsProtocol
import NIOCore

/// Writes the HEADERS frames of requests.
///
/// What is the same for many pushes is encoded once and kept as bytes; per push only the path and the id are written, as
/// literals that never enter the peer's table (Reference/APNs.md#1-6).
struct APNsHeaderBlocks {
    /// The bytes around the path for one set of headers, valid as long as the encoder's table does not change.
    private struct Prepared {
        var headers: APNsPush.Headers
        var authorization: UInt64?
        var generation: UInt64
        var parts = APNsRequestWriter.Parts()
    }

    private static let capacity = 16

    private let authority: String
    private var encoder = HPACKEncoder()
    private var prepared: [Prepared] = []
    private var latest = 0
    private var oldest = 0
    /// The headers of the last push, which are equal to those of `prepared[latest]`. A copy of them needs no comparison.
    private var latestHeaders: APNsPush.Headers?

    init(authority: String) { self.authority = authority }

    mutating func peerAllows(tableSize: Int) { encoder.peerAllows(tableSize) }

    /// Appends the HEADERS frame of a push, without END_STREAM, and with `withBody` the DATA frame of its whole body.
    mutating func append(
        _ push: UnsafePointer<APNsPush>, authorization: APNsAuthorization?, stream: UInt32, withBody: Bool,
        to output: inout ByteBuffer
    ) {
        let isLatest =
            latest < prepared.count && latestHeaders?.isCopy(of: push.pointee.headers) ?? false
            && isCurrent(latest, authorization)
        if !isLatest, !find(push.pointee.headers, authorization) {
            return write(prepare(push.pointee.headers, authorization), push, stream, withBody, to: &output)
        }
        if !isLatest { latestHeaders = push.pointee.headers }
        guard isShort(push), push.pointee.apnsID == nil || prepared[latest].parts.hasIDName else {
            return write(prepared[latest].parts, push, stream, withBody, to: &output)
        }
        APNsRequestWriter(parts: prepared[latest].parts, stream: stream).write(push, withBody: withBody, to: &output)
    }

    private func isShort(_ push: UnsafePointer<APNsPush>) -> Bool {
        push.pointee.token.count <= HuffmanHex.longestToken
    }

    /// The general way, for what has no prepared block.
    private mutating func write(
        _ parts: APNsRequestWriter.Parts, _ push: UnsafePointer<APNsPush>, _ stream: UInt32, _ withBody: Bool,
        to output: inout ByteBuffer
    ) {
        let start = output.writerIndex
        output.writeHTTP2FrameHeader(
            length: 0, kind: HTTP2FrameHeader.Kind.headers, flags: HTTP2FrameHeader.Flag.endHeaders, stream: stream)
        write(parts, push.pointee, to: &output)
        let length = output.writerIndex - start - HTTP2FrameHeader.size
        output.setInteger(UInt8(truncatingIfNeeded: length >> 16), at: start)
        output.setInteger(UInt16(truncatingIfNeeded: length), at: start + 1)
        guard withBody else { return }
        output.writeHTTP2FrameHeader(
            length: push.pointee.payload.count, kind: HTTP2FrameHeader.Kind.data, flags: HTTP2FrameHeader.Flag.endStream,
            stream: stream)
        output.writeBytes(push.pointee.payload)
    }

    private mutating func write(_ parts: APNsRequestWriter.Parts, _ push: APNsPush, to output: inout ByteBuffer) {
        output.writeBytes(parts.bytes[..<parts.path])
        output.writeAPNsDevicePath(push.token)
        output.writeBytes(parts.bytes[parts.path..<parts.idName])
        guard let id = push.apnsID else { return }
        if parts.hasIDName {
            output.writeBytes(parts.bytes[parts.idName...])
            output.writeHuffmanUUID(id)
        } else {
            var bytes: [UInt8] = []
            encoder.append("apns-id", APNsUUID.text(id), .nameOnly, to: &bytes)
            output.writeBytes(bytes)
        }
    }

    /// The header block of a request that is no device push.
    mutating func block(_ request: APNsRequest, authorization: APNsAuthorization?) -> [UInt8] {
        var bytes: [UInt8] = []
        encoder.beginBlock(&bytes)
        encoder.append(
            ":method", request.method.rawValue, request.method == .delete ? .nameOnly : .indexed, to: &bytes)
        encoder.append(":scheme", "https", .indexed, to: &bytes)
        encoder.append(":path", request.path, .nameOnly, to: &bytes)
        encoder.append(":authority", authority, .indexed, to: &bytes)
        if let authorization { encoder.append("authorization", authorization.value, .indexed, to: &bytes) }
        for field in request.fields { encoder.append(field.name, field.value, field.indexing, to: &bytes) }
        return bytes
    }

    private func isPrepared(_ index: Int, for headers: APNsPush.Headers, _ authorization: APNsAuthorization?) -> Bool {
        isCurrent(index, authorization) && prepared[index].headers == headers
    }

    @inline(__always)
    private func isCurrent(_ index: Int, _ authorization: APNsAuthorization?) -> Bool {
        prepared[index].generation == encoder.generation && prepared[index].authorization == authorization?.generation
    }

    private mutating func find(_ headers: APNsPush.Headers, _ authorization: APNsAuthorization?) -> Bool {
        guard let index = prepared.indices.first(where: { isPrepared($0, for: headers, authorization) }) else { return false }
        latest = index
        return true
    }

    /// Encodes the fields, and keeps the bytes if they are what the next request can use too: if nothing had to be inserted.
    private mutating func prepare(
        _ headers: APNsPush.Headers, _ authorization: APNsAuthorization?
    ) -> APNsRequestWriter.Parts {
        let generation = encoder.generation
        var bytes: [UInt8] = []
        encoder.beginBlock(&bytes)
        encoder.append(":method", "POST", .indexed, to: &bytes)
        encoder.append(":scheme", "https", .indexed, to: &bytes)
        encoder.append(":authority", authority, .indexed, to: &bytes)
        let path = bytes.count
        if let authorization { encoder.append("authorization", authorization.value, .indexed, to: &bytes) }
        encoder.append("apns-topic", headers.topic, .indexed, to: &bytes)
        encoder.append("apns-push-type", headers.pushType.rawValue, .indexed, to: &bytes)
        if let priority = headers.priority { encoder.append("apns-priority", String(priority), .indexed, to: &bytes) }
        if let expiration = headers.expiration {
            encoder.append("apns-expiration", String(expiration), expiration == 0 ? .indexed : .nameOnly, to: &bytes)
        }
        if let collapseID = headers.collapseID { encoder.append("apns-collapse-id", collapseID, .nameOnly, to: &bytes) }
        let idName = bytes.count
        bytes += encoder.literalPrefix(ofName: "apns-id") ?? []
        let parts = APNsRequestWriter.Parts(bytes: bytes, path: path, idName: idName)
        if encoder.generation == generation {
            keep(Prepared(headers: headers, authorization: authorization?.generation, generation: generation, parts: parts))
        }
        return parts
    }

    private mutating func keep(_ parts: Prepared) {
        latestHeaders = nil
        if prepared.count < Self.capacity {
            prepared.append(parts)
            latest = prepared.count - 1
        } else {
            prepared[oldest] = parts
            latest = oldest
            oldest = (oldest + 1) % Self.capacity
        }
    }
}
