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
        guard push.pointee.token.count <= HuffmanHex.longestToken, push.pointee.apnsID == nil || prepared[latest].parts.hasIDName
        else {
            return write(prepared[latest].parts, push, stream, withBody, to: &output)
        }
        APNsRequestWriter(parts: prepared[latest].parts, stream: stream).write(push, withBody: withBody, to: &output)
    }

    /// The general way, for what has no prepared block.
    private mutating func write(
        _ parts: APNsRequestWriter.Parts, _ push: UnsafePointer<APNsPush>, _ stream: UInt32, _ withBody: Bool,
        to output: inout ByteBuffer
    ) {
        var block = Array(parts.bytes[..<parts.path])
        encoder.append(":path", "/3/device/" + push.pointee.deviceToken.lowercased(), .nameOnly, to: &block)
        block += parts.bytes[parts.path..<parts.idName]
        if let id = push.pointee.apnsID { encoder.append("apns-id", APNsUUID.text(id), .nameOnly, to: &block) }
        output.writeHTTP2FrameHeader(
            length: block.count, kind: HTTP2FrameHeader.Kind.headers, flags: HTTP2FrameHeader.Flag.endHeaders, stream: stream)
        output.writeBytes(block)
        guard withBody else { return }
        output.writeHTTP2FrameHeader(
            length: push.pointee.payload.count, kind: HTTP2FrameHeader.Kind.data, flags: HTTP2FrameHeader.Flag.endStream,
            stream: stream)
        output.writeBytes(push.pointee.payload)
    }

    /// Appends the HEADERS frame of a request that is no device push; with END_STREAM when it has no body.
    mutating func append(
        _ request: HTTP2Request, authorization: APNsAuthorization?, stream: UInt32, to output: inout ByteBuffer
    ) {
        var bytes: [UInt8] = []
        encoder.beginBlock(&bytes)
        encoder.append(
            ":method", request.method.rawValue, request.method == .delete ? .nameOnly : .indexed, to: &bytes)
        encoder.append(":scheme", "https", .indexed, to: &bytes)
        encoder.append(":path", request.path, request.pathIndexing, to: &bytes)
        encoder.append(":authority", authority, .indexed, to: &bytes)
        if let authorization { encoder.append("authorization", authorization.value, .indexed, to: &bytes) }
        for field in request.fields { encoder.append(field.name, field.value, field.indexing, to: &bytes) }
        let flags = HTTP2FrameHeader.Flag.endHeaders | (request.body.isEmpty ? HTTP2FrameHeader.Flag.endStream : 0)
        output.writeHTTP2FrameHeader(
            length: bytes.count, kind: HTTP2FrameHeader.Kind.headers, flags: flags, stream: stream)
        output.writeBytes(bytes)
    }

    @inline(__always)
    private func isCurrent(_ index: Int, _ authorization: APNsAuthorization?) -> Bool {
        prepared[index].generation == encoder.generation && prepared[index].authorization == authorization?.generation
    }

    private mutating func find(_ headers: APNsPush.Headers, _ authorization: APNsAuthorization?) -> Bool {
        let index = prepared.indices.first { isCurrent($0, authorization) && prepared[$0].headers == headers }
        guard let index else { return false }
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

/// The value of the `authorization` header, and the generation number of that value.
struct APNsAuthorization {
    var value: String
    var generation: UInt64
}

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

/// Huffman-codes hexadecimal digits two at a time into memory of known size (RFC 7541, 5.2).
struct HuffmanHex {
    /// The code of both digits of a byte, and how many bits it has.
    private static let pairs: [(code: UInt16, length: UInt8)] = {
        let digits = Array("0123456789abcdef".utf8)
        return (0..<256).map { byte in
            let high = HuffmanCode.encoding[Int(digits[byte >> 4])]
            let low = HuffmanCode.encoding[Int(digits[byte & 15])]
            return (UInt16(high.code << UInt32(low.length) | low.code), high.length + low.length)
        }
    }()
    private static let hyphen = HuffmanCode.encoding[Int(UInt8(ascii: "-"))]
    private static let devicePath = Array("/3/device/".utf8).reduce(into: (code: UInt64(0), length: 0)) { word, byte in
        let next = HuffmanCode.encoding[Int(byte)]
        word = (word.code << UInt64(next.length) | UInt64(next.code), word.length + Int(next.length))
    }

    /// The longest token whose path has a length of one byte: 126 bytes in this code, at 6 bits a digit.
    static let longestToken = 150

    private let start: UnsafeMutablePointer<UInt8>
    private var target: UnsafeMutablePointer<UInt8>
    private var bits: UInt64 = 0
    private var count = 0

    private init(_ start: UnsafeMutablePointer<UInt8>) {
        self.start = start
        target = start + 1
    }

    /// Writes length and value of the path of a token, at most `longestToken` hexadecimal digits of either case, an even number.
    /// There must be room for a byte per digit and 16 more. Returns the number of bytes.
    static func writeDevicePath(_ token: UnsafeBufferPointer<UInt8>, to memory: UnsafeMutablePointer<UInt8>) -> Int {
        pairs.withUnsafeBufferPointer { pairs in
            var writer = HuffmanHex(memory)
            writer.put(devicePath.code >> 32, devicePath.length - 32)
            writer.put(devicePath.code & 0xFFFF_FFFF, 32)
            var index = 0
            while index + 1 < token.count {
                let pair = pairs[Int(value(of: token[index]) << 4 | value(of: token[index + 1]))]
                writer.put(UInt64(pair.code), Int(pair.length))
                index += 2
            }
            return writer.finish()
        }
    }

    /// Writes length and value of a UUID in lower case. There must be room for 40 bytes.
    static func writeUUID(_ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutablePointer<UInt8>) -> Int {
        pairs.withUnsafeBufferPointer { pairs in
            var writer = HuffmanHex(memory)
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 { writer.put(UInt64(hyphen.code), Int(hyphen.length)) }
                let pair = pairs[Int(bytes[index])]
                writer.put(UInt64(pair.code), Int(pair.length))
            }
            return writer.finish()
        }
    }

    @inline(__always)
    private static func value(of digit: UInt8) -> UInt8 { (digit & 0x0F) &+ 9 &* (digit >> 6) }

    /// Fewer than 32 bits stay over and at most 32 come, so 64 never overflow.
    @inline(__always)
    private mutating func put(_ code: UInt64, _ length: Int) {
        bits = bits << UInt64(length) | code
        count += length
        guard count >= 32 else { return }
        count -= 32
        let word = UInt32(truncatingIfNeeded: bits >> UInt64(count)).bigEndian
        UnsafeMutableRawPointer(target).storeBytes(of: word, as: UInt32.self)
        target += 4
    }

    /// Fills the last byte with ones and writes the length, which is below 127, before all.
    private mutating func finish() -> Int {
        while count > 0 {
            let byte = count >= 8 ? bits >> UInt64(count - 8) : bits << UInt64(8 - count) | 0xFF >> UInt64(count)
            target.pointee = UInt8(truncatingIfNeeded: byte)
            target += 1
            count -= 8
        }
        start.pointee = 0x80 | UInt8(target - start - 1)
        return target - start
    }
}
