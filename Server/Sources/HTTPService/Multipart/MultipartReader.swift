import Hummingbird
import NIOCore
import ServiceErrors
import WireText

/// Reads the parts of a multipart request one after another, each as a stream of chunks; nothing is read before it is asked for.
public final class MultipartReader {
    private var body: RequestBody.AsyncIterator
    private var parser: MultipartParser
    private var isInPart = false
    private var isFinished = false

    /// Creates a reader for a request. Throws `unsupported-media-type`, or `malformed-multipart` for a bad boundary.
    public init(_ request: Request) throws(ServiceError) {
        guard let type = request.headers[.contentType].flatMap({ HeaderParameters($0) }),
            type.value.lowercased() == "multipart/form-data"
        else { throw ServiceError(.unsupportedMediaType, "Content-Type must be multipart/form-data") }
        guard let parser = type.parameters["boundary"].flatMap({ MultipartParser(boundary: $0) }) else {
            throw ServiceError(.malformedMultipart, "Content-Type names no valid boundary")
        }
        self.parser = parser
        body = request.body.makeAsyncIterator()
    }

    /// The head of the next part, or `nil` after the last. What is left of the part before is passed over.
    public func nextPart() async throws -> MultipartPartHead? {
        while try await nextChunk() != nil {}
        switch try await nextEvent() {
        case .partBegan(let head):
            isInPart = true
            return head
        default:
            return nil
        }
    }

    public var chunks: PartChunks { PartChunks(reader: self) }

    /// The whole current part, at most `limit` bytes. Throws `payload-too-large` that names the part.
    public func readPart(named name: String, limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await nextChunk() {
            guard bytes.count + chunk.count <= limit else {
                throw ServiceError(.payloadTooLarge, "the part '\(name)' has more than \(limit) bytes")
            }
            bytes += chunk
        }
        return bytes
    }

    /// The next bytes of the current part; `nil` at its end.
    func nextChunk() async throws -> [UInt8]? {
        guard isInPart else { return nil }
        if case .bytes(let buffer)? = try await nextEvent() { return Array(buffer.readableBytesView) }
        isInPart = false
        return nil
    }

    /// The next event; `nil` after the closing boundary.
    private func nextEvent() async throws -> MultipartEvent? {
        guard !isFinished else { return nil }
        while true {
            if let event = try parser.next() {
                guard event == .finished else { return event }
                isFinished = true
                try await passOverEpilogue()
                return nil
            }
            guard let chunk = try await body.next() else {
                try parser.finish()
                return nil
            }
            parser.append(chunk)
        }
    }

    /// Reads to the end of the body, whose size the router bounds, so that the connection can be used again.
    private func passOverEpilogue() async throws {
        while try await body.next() != nil {}
    }
}

/// The bytes of one part as they arrive. Use it before asking for the next part.
public struct PartChunks: AsyncSequence, AsyncIteratorProtocol {
    let reader: MultipartReader

    public func makeAsyncIterator() -> PartChunks { self }

    public func next() async throws -> [UInt8]? { try await reader.nextChunk() }
}

/// What the headers of one part of `multipart/form-data` say (RFC 7578).
public struct MultipartPartHead: Hashable, Sendable {
    public var name: String
    /// The file name as sent; clean it with `FileName` before any use.
    public var fileName: String?
    /// The declared media type without parameters, in lower case.
    public var mediaType: String?
}

extension MultipartPartHead {
    /// Reads the header lines of a part. Throws `malformed-multipart`.
    init(headerBytes: [UInt8]) throws(ServiceError) {
        guard let text = String(validating: headerBytes, as: UTF8.self), !headerBytes.contains(0) else {
            throw ServiceError(.malformedMultipart, "the headers of a part are not UTF-8")
        }
        var headers: [String: String] = [:]
        for line in text.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":"), line.first != " ", line.first != "\t" else {
                throw ServiceError(.malformedMultipart, "a part has a header line without a name")
            }
            let name = line[..<colon].lowercased()
            guard headers.updateValue(String(line[line.index(after: colon)...]), forKey: name) == nil else {
                throw ServiceError(.malformedMultipart, "a part has the same header twice")
            }
        }
        guard let disposition = headers["content-disposition"].flatMap({ HeaderParameters($0) }),
            disposition.value.lowercased() == "form-data", let name = disposition.parameters["name"]
        else {
            throw ServiceError(.malformedMultipart, "a part has no Content-Disposition of form-data with a name")
        }
        let encoding = headers["content-transfer-encoding"].flatMap { HeaderParameters($0)?.value.lowercased() } ?? "binary"
        guard ["binary", "8bit", "7bit"].contains(encoding) else {
            throw ServiceError(.malformedMultipart, "a part has a Content-Transfer-Encoding; only plain bytes are read")
        }
        self.name = name
        fileName =
            disposition.parameters["filename*"].flatMap(ContentDisposition.decodedExtendedValue)
            ?? disposition.parameters["filename"]
        mediaType = headers["content-type"].flatMap { HeaderParameters($0)?.value.lowercased() }
    }
}
