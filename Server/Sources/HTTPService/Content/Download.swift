import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceErrors

/// Answers a request for stored bytes: whole, in part, or not again (RFC 9110, 13 and 14).
public struct Download: Sendable {
    /// The media type, from the server's own look at the bytes.
    public var mediaType: String
    public var size: Int64
    public var entityTag: EntityTag
    public var fileName: String?

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
                error: ServiceError(.rangeNotSatisfiable, "the content has \(size) bytes"),
                headers: [.contentRange: "bytes */\(size)"])
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

/// A strong entity tag, compared as RFC 9110 says (8.8.3 and 13.1).
public struct EntityTag: Hashable, Sendable {
    /// With its quotes, as it stands in the header.
    public let header: String

    /// Makes a tag of a digest or any other text without quotes.
    public init(_ text: String) { header = "\"\(text)\"" }

    /// Whether `If-None-Match` names it: a list or `*`, weak comparison.
    public func isNamed(inIfNoneMatch list: String) -> Bool {
        Self.elements(of: list).contains { $0 == "*" || $0 == header || $0 == "W/" + header }
    }

    /// Whether `If-Match` names it: a list or `*`, strong comparison.
    public func isNamed(inIfMatch list: String) -> Bool {
        Self.elements(of: list).contains { $0 == "*" || $0 == header }
    }

    /// Whether `If-Range` names it. A date never does, since contents have none.
    public func isNamed(inIfRange value: String) -> Bool { value == header }

    private static func elements(of list: String) -> [Substring] {
        list.split(separator: ",").map { element in
            var element = element.drop { $0 == " " || $0 == "\t" }
            while element.last == " " || element.last == "\t" { element.removeLast() }
            return element
        }
    }
}

/// Which bytes of a content a `Range` header asks for (RFC 9110, 14.1 and 14.2).
public enum RangeSelection: Hashable, Sendable {
    /// All of it, status 200: no header, another unit, malformed, or several ranges. A server may answer several with the
    /// whole; a thousand small ones would cost more than they are worth (Reference/SecurityCases.md#4).
    case whole
    /// One part, never empty, status 206.
    case part(Range<Int64>)
    /// Nothing of it, status 416.
    case unsatisfiable

    /// Reads the header for a content of `size` bytes.
    public init(header: String?, size: Int64) {
        guard let header, header.utf8.count <= 64, let equals = header.firstIndex(of: "="),
            header[..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let spec = header[header.index(after: equals)...]
        let ends = spec.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }) else {
            self = .whole
            return
        }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (nil, nil): self = .whole
        case (nil, let length?): self = length == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - length)..<size)
        case (let first?, nil): self = first < size ? .part(first..<size) : .unsatisfiable
        case (let first?, let last?):
            if last < first {
                self = .whole
            } else {
                self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
            }
        }
    }

    /// The digits as a number, as large as possible when there are too many; `nil` for none.
    private static func number(_ digits: Substring) -> Int64? { digits.isEmpty ? nil : Int64(digits) ?? .max }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
