import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceErrors

/// Answers a request for stored bytes: whole, in part, or not again (RFC 9110, 13 and 14).
public struct Download: Sendable {
    /// The media type, from the server's own look at the bytes.
    public var mediaType: String
    /// How many bytes there are.
    public var size: Int64
    /// The tag of the bytes.
    public var entityTag: EntityTag
    /// The name to save under.
    public var fileName: String?

    /// Creates a download.
    public init(mediaType: String, size: Int64, entityTag: EntityTag, fileName: String?) {
        self.mediaType = mediaType
        self.size = size
        self.entityTag = entityTag
        self.fileName = fileName
    }

    /// The answer to a request that needs no bytes: the client has them already. Costs no look at the store.
    /// Throws `precondition-failed`.
    public func unchanged(for request: Request) throws -> Response? {
        if let list = request.headers[.ifMatch], !entityTag.isNamed(inIfMatch: list) {
            throw ServiceError(.preconditionFailed, "If-Match does not name the content")
        }
        guard let list = request.headers[.ifNoneMatch], entityTag.isNamed(inIfNoneMatch: list) else { return nil }
        return Response(status: .notModified, headers: validators)
    }

    /// The answer to `request`; `read` gives the bytes of a range when the client takes them.
    public func response(
        to request: Request, context: ServiceRequestContext,
        read: @escaping @Sendable (Range<Int64>) -> AsyncThrowingStream<[UInt8], any Error>
    ) throws -> Response {
        try response(to: request, context: context) { range in Self.streamed(range, logger: context.logger, read: read) }
    }

    /// The answer to `request` from bytes in memory, which must be all of them. It leaves with one write.
    public func response(to request: Request, context: ServiceRequestContext, bytes: ByteBuffer) throws -> Response {
        try response(to: request, context: context) { range in
            guard let part = bytes.getSlice(at: bytes.readerIndex + Int(range.lowerBound), length: range.count) else {
                throw ServiceError(.internal, "a content has another size than was noted")
            }
            return ResponseBody(byteBuffer: part)
        }
    }

    private func response(
        to request: Request, context: ServiceRequestContext, body: (Range<Int64>) throws -> ResponseBody
    ) throws -> Response {
        if let response = try unchanged(for: request) { return response }
        switch selection(for: request, context: context) {
        case .whole:
            return Response(status: .ok, headers: described, body: try body(0..<size))
        case .part(let range):
            var headers = described
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return Response(status: .partialContent, headers: headers, body: try body(range))
        case .unsatisfiable:
            throw ErrorWithHeaders(
                ServiceError(.rangeNotSatisfiable, "the content has \(size) bytes"), headers: [.contentRange: "bytes */\(size)"])
        }
    }

    /// A range counts for `GET` only, and not when `If-Range` names other bytes.
    private func selection(for request: Request, context: ServiceRequestContext) -> RangeSelection {
        if context.isHead { return .whole }
        if let condition = request.headers[.ifRange], !entityTag.isNamed(inIfRange: condition) { return .whole }
        return RangeSelection(header: request.headers[.range], size: size)
    }

    private var validators: HTTPFields { [.eTag: entityTag.header, .cacheControl: "private, max-age=0, must-revalidate"] }

    private var described: HTTPFields {
        var headers = validators
        headers[.contentType] = mediaType
        headers[.acceptRanges] = "bytes"
        headers[.contentDisposition] = ContentDisposition.attachment(fileName: fileName)
        return headers
    }

    private static func streamed(
        _ range: Range<Int64>, logger: Logger,
        read: @escaping @Sendable (Range<Int64>) -> AsyncThrowingStream<[UInt8], any Error>
    ) -> ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            do {
                for try await chunk in read(range) { try await writer.write(ByteBuffer(bytes: chunk)) }
            } catch let error as ServiceError {
                // The head has left. Breaking off shows the client that bytes are missing, since their number was promised.
                logger.warning("Download broke off", metadata: [LogKey.errorCode.rawValue: .string(error.code.rawValue)])
                throw error
            }
            try await writer.finish(nil)
        }
    }
}
