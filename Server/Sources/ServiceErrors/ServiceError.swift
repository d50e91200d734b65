#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The one error that services throw: a code from the closed list, and a sentence for the caller.
///
/// `detail` says what was wrong and where, in words that are safe to show and to log: never a secret, a device token or
/// content. `retryAfter` is in whole seconds.
public struct ServiceError: Error, Hashable, Sendable {
    public let code: ServiceErrorCode
    public let detail: String?
    public let retryAfter: Int?

    /// Creates an error.
    public init(_ code: ServiceErrorCode, _ detail: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }
}

extension ServiceError: CustomStringConvertible {
    public var description: String { detail.map { "\(code.rawValue): \($0)" } ?? code.rawValue }
}

/// Everything that can go wrong for a caller. The raw value is the stable word on the wire and in the metrics.
///
/// What each code means over HTTP stands in one exhaustive table, `ErrorTable` in `HTTPService`.
public enum ServiceErrorCode: String, Sendable, CaseIterable {
    // The request
    case malformedJSON = "malformed-json"
    case malformedMultipart = "malformed-multipart"
    case invalidField = "invalid-field"
    case invalidAudience = "invalid-audience"
    case invalidHeader = "invalid-header"
    case headersTooLarge = "headers-too-large"
    case payloadTooLarge = "payload-too-large"
    case contentTooLarge = "content-too-large"
    case unsupportedContent = "unsupported-content"
    case unsupportedMediaType = "unsupported-media-type"
    case rangeNotSatisfiable = "range-not-satisfiable"
    case idempotencyMismatch = "idempotency-mismatch"
    case unknownRoute = "unknown-route"
    case methodNotAllowed = "method-not-allowed"
    case requestTimeout = "request-timeout"
    // The caller
    case unauthenticated = "unauthenticated"
    case forbidden = "forbidden"
    case crossSite = "cross-site"
    case approvalRequired = "approval-required"
    case tooManyAttempts = "too-many-attempts"
    case tooManyRequests = "too-many-requests"
    case overloaded = "overloaded"
    // The object
    case notFound = "not-found"
    case registrationGone = "registration-gone"
    case conflict = "conflict"
    case preconditionFailed = "precondition-failed"
    case quotaExceeded = "quota-exceeded"
    // The server
    case storageUnavailable = "storage-unavailable"
    case outcomeUnknown = "outcome-unknown"
    case notReady = "not-ready"
    case `internal` = "internal"
}

/// What an error number of the system means for an operator who reads it in a log, at a start or in `/readyz`.
public enum SystemErrorText {
    /// A short clause such as `the disk is full (ENOSPC)`; for a number that is not in the list the number itself. No path, no data.
    public static func text(_ number: Int32) -> String {
        switch number {
        case ENOSPC: "the disk is full (ENOSPC)"
        case EDQUOT: "the disk quota of the server's user is used up (EDQUOT)"
        case EROFS: "the file system is mounted read-only (EROFS)"
        case EACCES, EPERM: "the server's user has no permission (\(number == EACCES ? "EACCES" : "EPERM"))"
        case EMFILE: "the process has too many open files (EMFILE); raise its limit, LimitNOFILE in a systemd unit"
        case ENFILE: "the system has too many open files (ENFILE)"
        case EIO: "the disk reports an input/output error (EIO)"
        case ENOENT: "a folder on the way there is missing (ENOENT)"
        case ENOTDIR: "a part of the path is no folder (ENOTDIR)"
        default: "the system refused it (errno \(number))"
        }
    }
}
