import HTTPTypes
import Logging
import ServiceErrors

/// What one error code means over HTTP, in the logs and in the documentation.
public struct ErrorTableEntry: Sendable {
    /// The code that the entry explains.
    public let code: ServiceErrorCode
    /// The HTTP status.
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
    public var wireCode: String { code.rawValue }
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
