import HTTPTypes
import Hummingbird
import NIOCore
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

    /// RFC 7617, 2.1. The credential of an installation travels as Bearer, but browsers can only ask users for Basic.
    public var challenge: String { #"Basic realm="clarion", charset="UTF-8""# }
}

/// Problem documents (RFC 9457), the form of every error unless a path prefix has another one.
public struct ProblemRenderer: ErrorRenderer {
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

/// An error whose answer needs headers that only the route knows, for example `Content-Range` with a 416 (RFC 9110, 15.5.17).
struct ErrorWithHeaders: Error {
    let error: ServiceError
    let headers: HTTPFields
}

/// A failed request: the error for the caller, and what is logged of an unexpected one.
struct RequestFailure {
    let error: ServiceError
    /// The type (and case) of an unforeseen error; never its description, which may hold anything.
    private(set) var unforeseen: String?
    /// Headers that the answer carries besides those of every error.
    private(set) var headers: HTTPFields = [:]

    /// Classifies whatever a handler threw.
    init(_ thrown: any Error) {
        switch (thrown as? SealedError)?.sealed ?? thrown {
        case let known as ServiceError: error = known
        case let known as ErrorWithHeaders:
            error = known.error
            headers = known.headers
        case is NIOTooManyBytesError: error = ServiceError(.payloadTooLarge)
        case let known as any HTTPResponseError: error = Self.serviceError(for: known.status)
        case is CancellationError: error = ServiceError(.notReady, "the server is stopping")
        case let unknown:
            error = ServiceError(.internal)
            unforeseen = Self.name(of: unknown)
        }
    }

    /// Hummingbird's own errors, of which the words are not ours and may quote the request: only the status is kept.
    private static func serviceError(for status: HTTPResponse.Status) -> ServiceError {
        switch status.code {
        case 401: ServiceError(.unauthenticated)
        case 403: ServiceError(.forbidden)
        case 404: ServiceError(.unknownRoute)
        case 405: ServiceError(.methodNotAllowed)
        case 408: ServiceError(.requestTimeout)
        case 413: ServiceError(.payloadTooLarge)
        case 415: ServiceError(.unsupportedMediaType)
        case 416: ServiceError(.rangeNotSatisfiable)
        case 429: ServiceError(.tooManyRequests)
        case 431: ServiceError(.headersTooLarge)
        case 503: ServiceError(.overloaded)
        case 400..<500: ServiceError(.invalidField, "the request cannot be read")
        default: ServiceError(.internal)
        }
    }

    /// `Module.Type` and, for an enumeration, the case without what it carries.
    private static func name(of error: any Error) -> String {
        let type = String(reflecting: type(of: error))
        let word = "\(error)".prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return String(word.isEmpty ? type[...] : "\(type) \(word.prefix(40))").prefix(160).description
    }
}

/// Carries an error past Hummingbird's router, which would answer those of its own protocol by itself.
struct SealedError: Error {
    let sealed: any Error
}
