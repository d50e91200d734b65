import HTTPTypes
import Hummingbird
import Logging
import ServiceErrors

/// The one table from error codes to everything outside: status, wire code, title, log level, metric label, documentation.
///
/// The switches have no default, so a new code does not compile until it stands here. `Documentation/Errors.md` is made
/// from this table, and a test compares the two.
public enum ErrorTable {
    public static func entry(for code: ServiceErrorCode) -> ErrorTableEntry {
        switch code {
        case .malformedJSON, .malformedMultipart, .invalidField, .invalidAudience, .invalidHeader, .headersTooLarge,
            .payloadTooLarge, .contentTooLarge, .unsupportedContent, .unsupportedMediaType, .rangeNotSatisfiable,
            .idempotencyMismatch,
            .unknownRoute, .methodNotAllowed, .requestTimeout:
            requestEntry(for: code)
        case .unauthenticated, .forbidden, .crossSite, .approvalRequired, .tooManyAttempts, .tooManyRequests, .overloaded,
            .notFound,
            .registrationGone, .conflict, .preconditionFailed, .quotaExceeded, .storageUnavailable, .outcomeUnknown, .notReady,
            .internal:
            stateEntry(for: code)
        }
    }

    /// Errors of the request itself.
    private static func requestEntry(for code: ServiceErrorCode) -> ErrorTableEntry {
        switch code {
        case .malformedJSON:
            .init(code, .badRequest, "The body is not acceptable JSON.", "Correct the body; the detail names the place.")
        case .malformedMultipart:
            .init(code, .badRequest, "The multipart body cannot be read.", "Correct the body; the detail says what was expected.")
        case .invalidField:
            .init(
                code, .badRequest, "A field or parameter has a value that is not allowed.",
                "Correct the field that the detail names.")
        case .invalidAudience:
            .init(code, .badRequest, "The audience is not a valid tag expression.", "Correct the expression at the place named.")
        case .invalidHeader:
            .init(code, .badRequest, "A header has a value that is not allowed.", "Correct the header that the detail names.")
        case .headersTooLarge:
            .init(
                code, .requestHeaderFieldsTooLarge, "The header fields of the request are too large.",
                "Send fewer or shorter ones; the detail names the limit.")
        case .payloadTooLarge:
            .init(code, .contentTooLarge, "The request or the push made of it is too large.", "Shorten it to the limit named.")
        case .contentTooLarge:
            .init(code, .contentTooLarge, "The content is larger than the server stores.", "Send smaller content.")
        case .unsupportedContent:
            .init(
                code, .unsupportedMediaType, "The content is of a type that the server does not store.",
                "Send one of the types listed in the API description.")
        case .unsupportedMediaType:
            .init(
                code, .unsupportedMediaType, "The body has a media type that this route does not take.",
                "Set the Content-Type header to a type that the detail names.")
        case .rangeNotSatisfiable:
            .init(code, .rangeNotSatisfiable, "The range lies outside the content.", "Ask for a range within Content-Range.")
        case .idempotencyMismatch:
            .init(
                code, .unprocessableContent, "The idempotency key was used before with another request.",
                "Use a new key for a new request.")
        case .unknownRoute:
            .init(code, .notFound, "There is nothing at this path.", "Paths match exactly: check case, slashes and escapes.")
        case .methodNotAllowed:
            .init(code, .methodNotAllowed, "The path does not take this method.", "Use one of the methods in the Allow header.")
        default:
            .init(code, .requestTimeout, "The request did not arrive in time.", "Send it again.", retryAfter: 1)
        }
    }

    /// Errors of the caller, the object and the server.
    private static func stateEntry(for code: ServiceErrorCode) -> ErrorTableEntry {
        switch code {
        case .unauthenticated:
            .init(code, .unauthorized, "The request needs valid credentials.", "Sign in again.", level: .notice)
        case .forbidden:
            .init(code, .forbidden, "The caller may not do this.", "Ask an administrator for the role named.", level: .notice)
        case .crossSite:
            .init(
                code, .forbidden, "The request came from a page of another site.",
                "Call from the same origin, or name the page's in web-origins.", level: .notice)
        case .approvalRequired:
            .init(
                code, .forbidden, "Another person has to approve this send.",
                "Post it to /api/v1/schedules with `approval`, and let another person approve it.", level: .notice)
        case .tooManyAttempts:
            .init(
                code, .tooManyRequests, "Too many failed attempts.", "Wait as long as Retry-After says.", level: .notice,
                retryAfter: 30)
        case .tooManyRequests:
            .init(
                code, .tooManyRequests, "Too many calls for now.", "Wait as long as Retry-After says.", level: .notice,
                retryAfter: 1)
        case .overloaded:
            .init(
                code, .serviceUnavailable, "The server has more work than it can queue.", "Repeat after Retry-After.",
                level: .warning, retryAfter: 2)
        case .notFound:
            .init(code, .notFound, "There is no such object, or it is not for this caller.", "Check the id and who is signed in.")
        case .registrationGone:
            .init(code, .gone, "The registration id is no longer usable.", "Ask for a new id and register with it.")
        case .conflict:
            .init(code, .conflict, "The object is in a state that does not allow this.", "Read the object again first.")
        case .preconditionFailed:
            .init(code, .preconditionFailed, "The object is not the one the request expects.", "Read the object again first.")
        case .quotaExceeded:
            .init(code, .forbidden, "The quota is used up.", "Remove content, or ask for a larger quota.", level: .notice)
        case .storageUnavailable:
            .init(
                code, .serviceUnavailable, "The storage does not answer.", "Repeat after Retry-After.", level: .error,
                retryAfter: 5)
        case .outcomeUnknown:
            .init(
                code, .serviceUnavailable, "It is not known whether the request took effect.",
                "Repeat it with the same Idempotency-Key.", level: .error, retryAfter: 5)
        case .notReady:
            .init(
                code, .serviceUnavailable, "The server is starting or stopping.", "Repeat after Retry-After.", level: .warning,
                retryAfter: 5)
        default:
            .init(
                code, .internalServerError, "The server made a mistake.", "Report the X-Request-Id of the answer.",
                level: .error)
        }
    }
}

/// What one error code means over HTTP, in the logs and in the documentation.
public struct ErrorTableEntry: Sendable {
    public let code: ServiceErrorCode
    public let status: HTTPResponse.Status
    /// The same sentence for every error of this code.
    public let title: String
    /// What the caller can do about it, for the documentation.
    public let advice: String
    /// How loudly one such failure is logged.
    public let level: Logger.Level
    /// Seconds for `Retry-After` when the error itself names none; `nil` when a repeat cannot help.
    public let retryAfter: Int?

    /// The stable word for programs.
    var wireCode: String { code.rawValue }
    /// The value of the label `code` in the metrics.
    public var metricLabel: String { code.rawValue }
    /// The link to the explanation, relative to the server.
    public var documentation: String { "/docs/errors#\(code.rawValue)" }

    init(
        _ code: ServiceErrorCode, _ status: HTTPResponse.Status, _ title: String, _ advice: String,
        level: Logger.Level = .info, retryAfter: Int? = nil
    ) {
        self.code = code
        self.status = status
        self.title = title
        self.advice = advice
        self.level = level
        self.retryAfter = retryAfter
    }
}

extension ErrorTable {
    /// The text of `Documentation/Errors.md`.
    public static var markdown: String {
        let rows = ServiceErrorCode.allCases.map(entry(for:)).map(row)
        return (preface + rows).joined(separator: "\n") + "\n"
    }

    private static let preface = [
        "# Errors",
        "",
        "Every error answer of `/api` is `application/problem+json` (RFC 9457) with the members `type`, `title`, `status`,",
        "`detail` and `code`. Programs read `code`; it never changes its meaning. `detail` says what was wrong this time and where;",
        "it never repeats a secret, a device token or content. `X-Request-Id` of the answer finds the line in the server's log.",
        "",
        "This page is made from `ErrorTable` in `Server/Sources/HTTPService`; a test fails when the two differ.",
        "",
        "| Code | Status | Meaning | What to do | Retry-After | Logged as |",
        "| --- | --- | --- | --- | --- | --- |",
    ]

    private static func row(_ entry: ErrorTableEntry) -> String {
        let cells = [
            "<a id=\"\(entry.wireCode)\"></a>`\(entry.wireCode)`", String(entry.status.code), entry.title, entry.advice,
            entry.retryAfter.map { "\($0) s" } ?? "", entry.level.rawValue,
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}

/// `GET /docs/errors`: the page to which the `type` of every problem leads.
public struct ErrorReferenceRoute: Sendable {
    public init() {}

    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/docs/errors") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/markdown; charset=utf-8", .cacheControl: "max-age=3600"],
                body: .init(byteBuffer: ByteBuffer(string: ErrorTable.markdown)))
        }
    }
}
