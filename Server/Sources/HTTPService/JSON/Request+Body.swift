import HTTPTypes
import Hummingbird
import NIOCore
import ServiceErrors
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Request {
    /// The whole body, at most `limit` bytes. Throws `payload-too-large`, before reading when the header says so.
    public func readBody(limit: Int) async throws -> [UInt8] {
        let fault = ServiceError(.payloadTooLarge, "the body has more than \(limit) bytes")
        if let promised = headers[.contentLength].flatMap({ Int($0) }), promised > limit { throw fault }
        var bytes: [UInt8] = []
        for try await buffer in body {
            guard bytes.count + buffer.readableBytes <= limit else { throw fault }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
    }

    /// The body as JSON. Throws `unsupported-media-type`, `payload-too-large`, `malformed-json`, `invalid-field`.
    public func readJSON<Value: Decodable>(
        _ type: Value.Type, known: Set<String>? = nil, limits: JSONLimits = JSONLimits()
    ) async throws -> Value {
        try JSONFields.decode(type, from: await jsonBytes(limits: limits), known: known, depthLimit: limits.depth)
    }

    /// The bytes of a body that is declared as JSON, unread. Throws `unsupported-media-type`, `payload-too-large`.
    public func jsonBytes(limits: JSONLimits = JSONLimits()) async throws -> [UInt8] {
        try requireJSON()
        return try await readBody(limit: limits.byteCount)
    }

    /// Throws `unsupported-media-type` unless the body is declared as JSON, or as another text of this media type, in UTF-8.
    public func requireJSON(as mediaType: String = "application/json") throws(ServiceError) {
        let declared = headers[.contentType].flatMap { HeaderParameters($0) }
        let charset = declared?.parameters["charset"]?.lowercased() ?? "utf-8"
        guard let declared, declared.value.lowercased() == mediaType, charset == "utf-8" else {
            throw ServiceError(.unsupportedMediaType, "Content-Type must be \(mediaType) in UTF-8")
        }
    }

    /// Whether the head announces a body; one without a length may still turn out empty.
    public var announcesBody: Bool {
        if let length = headers[.contentLength] { return length != "0" }
        return headers[.transferEncoding] != nil || headers[.contentType] != nil
    }

    /// The body in the chunks in which it arrives, as byte arrays for targets that know no NIO. Its size is bounded by the router.
    public var chunks: AsyncMapSequence<RequestBody, [UInt8]> { body.map { Array($0.readableBytesView) } }
}

/// How much JSON a body may hold.
public struct JSONLimits: Sendable {
    /// The most bytes.
    public var byteCount: Int
    /// The deepest nesting of objects and lists.
    public var depth: Int

    /// Creates limits; the defaults are far above anything the API describes.
    public init(byteCount: Int = 256 * 1024, depth: Int = 16) {
        self.byteCount = byteCount
        self.depth = depth
    }
}

extension Response {
    /// An answer with `value` as JSON, its names in alphabetical order.
    public static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(value))
        return Response(status: status, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }
}
