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

    /// The answer to `request`; `read` gives the bytes of a range when the client takes them.
    public func response(
        to request: Request, context: ServiceRequestContext,
        read: @escaping @Sendable (Range<Int64>) -> AsyncThrowingStream<[UInt8], any Error>
    ) throws -> Response {
        if let list = request.headers[.ifMatch], !entityTag.isNamed(inIfMatch: list) {
            throw ServiceError(.preconditionFailed, "If-Match does not name the content")
        }
        if let list = request.headers[.ifNoneMatch], entityTag.isNamed(inIfNoneMatch: list) {
            return Response(status: .notModified, headers: validators)
        }
        switch selection(for: request, context: context) {
        case .whole:
            return answer(.ok, range: 0..<size, headers: described, context: context, read: read)
        case .part(let range):
            var headers = described
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return answer(.partialContent, range: range, headers: headers, context: context, read: read)
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

    private func answer(
        _ status: HTTPResponse.Status, range: Range<Int64>, headers: HTTPFields, context: ServiceRequestContext,
        read: @escaping @Sendable (Range<Int64>) -> AsyncThrowingStream<[UInt8], any Error>
    ) -> Response {
        let logger = context.logger
        let body = ResponseBody(contentLength: range.count) { writer in
            do {
                for try await chunk in read(range) { try await writer.write(ByteBuffer(bytes: chunk)) }
            } catch let error as ServiceError {
                // The head has left. Breaking off shows the client that bytes are missing, since their number was promised.
                logger.warning("Download broke off", metadata: [LogKey.errorCode.rawValue: .string(error.code.rawValue)])
                throw error
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }
}
