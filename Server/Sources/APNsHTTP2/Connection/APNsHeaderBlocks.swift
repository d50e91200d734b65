import APNsProtocol
import NIOCore

/// Writes the HEADERS frames of requests.
///
/// What is the same for many pushes is encoded once and kept as bytes; per push only the path and the id are written, as
/// literals that never enter the peer's table (APNs reference 1.6).
struct APNsHeaderBlocks {
    /// The bytes around the path for one set of headers, valid as long as the encoder's table does not change.
    private struct Prepared {
        var headers: APNsPush.Headers
        var authorization: UInt64?
        var generation: UInt64
        var beforePath: [UInt8] = []
        var afterPath: [UInt8] = []
        /// The representation and name of `apns-id`, when the name is in the table.
        var idPrefix: [UInt8]?
    }

    private static let capacity = 16

    private let authority: String
    private var encoder = HPACKEncoder()
    private var prepared: [Prepared] = []
    private var latest = 0
    private var oldest = 0

    init(authority: String) { self.authority = authority }

    mutating func peerAllows(tableSize: Int) { encoder.peerAllows(tableSize) }

    /// Appends the HEADERS frame of a push, without END_STREAM.
    mutating func append(
        _ push: APNsPush, authorization: APNsAuthorization?, stream: UInt32, to output: inout ByteBuffer
    ) {
        let start = output.writerIndex
        output.writeHTTP2FrameHeader(
            length: 0, kind: HTTP2FrameHeader.Kind.headers, flags: HTTP2FrameHeader.Flag.endHeaders, stream: stream)
        if isPrepared(for: push.headers, authorization) || find(push.headers, authorization) {
            write(prepared[latest], push, to: &output)
        } else {
            write(prepare(push.headers, authorization), push, to: &output)
        }
        let length = output.writerIndex - start - HTTP2FrameHeader.size
        output.setInteger(UInt8(truncatingIfNeeded: length >> 16), at: start)
        output.setInteger(UInt16(truncatingIfNeeded: length), at: start + 1)
    }

    private mutating func write(_ parts: Prepared, _ push: APNsPush, to output: inout ByteBuffer) {
        output.writeBytes(parts.beforePath)
        output.writeAPNsDevicePath(push.deviceToken)
        output.writeBytes(parts.afterPath)
        guard let id = push.apnsID else { return }
        if let prefix = parts.idPrefix {
            output.writeBytes(prefix)
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

    @inline(__always)
    private func isPrepared(for headers: APNsPush.Headers, _ authorization: APNsAuthorization?) -> Bool {
        latest < prepared.count && isPrepared(latest, for: headers, authorization)
    }

    private func isPrepared(_ index: Int, for headers: APNsPush.Headers, _ authorization: APNsAuthorization?) -> Bool {
        prepared[index].generation == encoder.generation && prepared[index].authorization == authorization?.generation
            && prepared[index].headers == headers
    }

    private mutating func find(_ headers: APNsPush.Headers, _ authorization: APNsAuthorization?) -> Bool {
        guard let index = prepared.indices.first(where: { isPrepared($0, for: headers, authorization) }) else { return false }
        latest = index
        return true
    }

    /// Encodes the fields, and keeps the bytes if they are what the next request can use too: if nothing had to be inserted.
    private mutating func prepare(_ headers: APNsPush.Headers, _ authorization: APNsAuthorization?) -> Prepared {
        let generation = encoder.generation
        var parts = Prepared(headers: headers, authorization: authorization?.generation, generation: generation)
        encoder.beginBlock(&parts.beforePath)
        encoder.append(":method", "POST", .indexed, to: &parts.beforePath)
        encoder.append(":scheme", "https", .indexed, to: &parts.beforePath)
        encoder.append(":authority", authority, .indexed, to: &parts.beforePath)
        if let authorization { encoder.append("authorization", authorization.value, .indexed, to: &parts.afterPath) }
        encoder.append("apns-topic", headers.topic, .indexed, to: &parts.afterPath)
        encoder.append("apns-push-type", headers.pushType.rawValue, .indexed, to: &parts.afterPath)
        if let priority = headers.priority { encoder.append("apns-priority", String(priority), .indexed, to: &parts.afterPath) }
        if let expiration = headers.expiration {
            encoder.append(
                "apns-expiration", String(expiration), expiration == 0 ? .indexed : .nameOnly, to: &parts.afterPath)
        }
        if let collapseID = headers.collapseID { encoder.append("apns-collapse-id", collapseID, .nameOnly, to: &parts.afterPath) }
        parts.idPrefix = encoder.literalPrefix(ofName: "apns-id")
        if encoder.generation == generation { keep(parts) }
        return parts
    }

    private mutating func keep(_ parts: Prepared) {
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
