import HTTPTypes
import Hummingbird
import NIOCore
import ServiceErrors

/// A failed request: the error that the caller is told, and what the log says of one that nobody foresaw.
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
