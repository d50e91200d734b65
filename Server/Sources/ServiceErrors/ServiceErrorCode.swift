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
