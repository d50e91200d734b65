import HTTPTypes
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes the body of an error answer. `/api` and the pages answer with a problem document; the hub protocol has its own form.
public protocol ErrorRenderer: Sendable {
    /// The media type and the bytes for `error`. `requestID` is what the log calls the request.
    func render(_ error: ServiceError, entry: ErrorTableEntry, requestID: String) -> (mediaType: String, body: [UInt8])

    /// The status, for a protocol whose clients read another one than the table's.
    func status(of error: ServiceError, entry: ErrorTableEntry) -> HTTPResponse.Status

    /// What a 401 asks for (RFC 9110, 11.6.1).
    var challenge: String { get }
}

extension ErrorRenderer {
    public func status(of error: ServiceError, entry: ErrorTableEntry) -> HTTPResponse.Status { entry.status }

    /// RFC 7617, 2.1. The credential of an installation travels as Bearer, but people can only be asked for Basic.
    public var challenge: String { #"Basic realm="clarion", charset="UTF-8""# }
}

/// Problem documents (RFC 9457), the form of every error unless a path prefix has another one.
public struct ProblemRenderer: ErrorRenderer {
    /// Creates a renderer.
    public init() {}

    public func render(_ error: ServiceError, entry: ErrorTableEntry, requestID: String) -> (mediaType: String, body: [UInt8]) {
        let problem = Problem(
            type: entry.documentation, title: entry.title, status: entry.status.code, detail: error.detail, code: entry.wireCode)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = (try? encoder.encode(problem)).map { [UInt8]($0) } ?? []
        return ("application/problem+json", body)
    }
}
