import APNsProtocol
import Foundation
import NIOCore

@testable import APNsHTTP2

/// A request as the other end sees it.
struct SeenRequest: Equatable {
    var stream: UInt32
    var fields: [String]
    var body: [UInt8] = []
    var isComplete = false

    func value(_ name: String) -> String? {
        fields.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}

/// The other end of a connection, without a network: reads what the client writes and writes what a test says.
struct ScriptedServer {
    private var input = ByteBuffer()
    private var decoder = HPACKDecoder()
    private var hasPreface = false
    private(set) var requests: [SeenRequest] = []
    /// Every other frame, in order.
    private(set) var frames: [HTTP2Frame] = []

    /// Takes bytes of the client.
    mutating func read(_ bytes: ByteBuffer) throws {
        var bytes = bytes
        input.writeBuffer(&bytes)
        if !hasPreface, let preface = input.readString(length: 24) { hasPreface = preface.hasPrefix("PRI * HTTP/2.0") }
        while let frame = try HTTP2FrameReader.next(&input) {
            switch frame {
            case .headers(let stream, let fragment, let endStream, _):
                let fields = try decoder.fields(Array(fragment.readableBytesView))
                requests.append(SeenRequest(stream: stream, fields: fields, isComplete: endStream))
            case .data(let stream, let body, _, let endStream):
                guard let index = requests.firstIndex(where: { $0.stream == stream }) else { continue }
                requests[index].body += Array(body.readableBytesView)
                requests[index].isComplete = endStream
            default: frames.append(frame)
            }
        }
    }

    mutating func takeRequests() -> [SeenRequest] {
        defer { requests = [] }
        return requests
    }

    mutating func takeFrames() -> [HTTP2Frame] {
        defer { frames = [] }
        return frames
    }
}

/// What a server says, as bytes.
extension ByteBuffer {
    static func settings(_ settings: (UInt16, UInt32)...) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeHTTP2Settings(settings.map { (identifier: $0.0, value: $0.1) })
        return buffer
    }

    static func streamLimit(_ limit: UInt32) -> ByteBuffer {
        .settings((HTTP2Settings.Identifier.maximumConcurrentStreams, limit))
    }

    static func frame(_ kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeHTTP2FrameHeader(length: payload.count, kind: kind, flags: flags, stream: stream)
        buffer.writeBytes(payload)
        return buffer
    }

    /// `:status` and a literal `apns-id`.
    static func headerBlock(status: Int, id: String? = nil) -> [UInt8] {
        var block: [UInt8] = status == 200 ? [0x88] : [0x08, 0x03] + Array("\(status)".utf8)
        if let id { block += [0x00, 0x07] + Array("apns-id".utf8) + [UInt8(id.utf8.count)] + Array(id.utf8) }
        return block
    }

    static func success(_ stream: UInt32, id: String? = nil) -> ByteBuffer {
        .frame(0x1, flags: 0x5, stream: stream, headerBlock(status: 200, id: id))
    }

    static func refusal(_ stream: UInt32, _ status: Int, _ reason: String, timestamp: Int64? = nil) -> ByteBuffer {
        let body = #"{"reason":"\#(reason)"\#(timestamp.map { ",\"timestamp\":\($0)" } ?? "")}"#
        var buffer = ByteBuffer.frame(0x1, flags: 0x4, stream: stream, headerBlock(status: status))
        buffer.writeImmutableBuffer(.frame(0x0, flags: 0x1, stream: stream, Array(body.utf8)))
        return buffer
    }

    static func reset(_ stream: UInt32, _ code: HTTP2ErrorCode) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeHTTP2ResetStream(stream, code: code)
        return buffer
    }

    static func goAway(last: UInt32, code: HTTP2ErrorCode = .noError, debug: String = "") -> ByteBuffer {
        var payload = ByteBuffer()
        payload.writeMultipleIntegers(last, code.rawValue)
        payload.writeString(debug)
        return .frame(0x7, Array(payload.readableBytesView))
    }

    static func credit(_ increment: UInt32, stream: UInt32 = 0) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeHTTP2WindowUpdate(stream: stream, increment: increment)
        return buffer
    }
}

/// Pushes for tests.
enum Pushes {
    static let token = "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff"
    static let headers = APNsPush.Headers(topic: "com.example.app", pushType: .alert, priority: 10, expiration: 0)

    static func push(size: Int = 20, id: UUID? = nil, headers: APNsPush.Headers = headers) -> APNsPush {
        APNsPush(deviceToken: token, headers: headers, payload: [UInt8](repeating: 0x20, count: size), apnsID: id)
    }
}
