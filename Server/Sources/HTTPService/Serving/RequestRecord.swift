import HTTPTypes
import Hummingbird
import Logging
import RichPushModel
import ServiceErrors

/// One answered request, as the log and the metrics see it.
struct RequestRecord {
    let request: Request
    let context: ServiceRequestContext
    let template: String
    let status: HTTPResponse.Status
    let duration: Duration
    let failure: RequestFailure?

    /// Writes the one line of this request. The path itself is not logged, since it may hold a device token in its query and
    /// ids of others; the template and the request id find it.
    func log(successLevel: Logger.Level) {
        guard failure != nil || context.logger.logLevel <= successLevel else { return }
        var metadata: Logger.Metadata = [:]
        metadata[.method] = .string(Self.label(of: request.method))
        metadata[.route] = .string(template)
        metadata[.status] = .stringConvertible(status.code)
        metadata[.durationMilliseconds] = .stringConvertible(duration.wholeMilliseconds)
        metadata[.remoteAddress] = context.remoteAddress.map { .string($0) }
        guard let failure else {
            context.logger.log(level: successLevel, "Request answered", metadata: metadata)
            return
        }
        metadata[.errorCode] = .string(failure.error.code.rawValue)
        // A 400 may quote what it was given, so that the caller finds the place; that can be a tag, a name or content.
        if status != .badRequest { metadata[.errorDetail] = failure.error.detail.map { .string($0) } }
        metadata[.errorType] = failure.unforeseen.map { .string($0) }
        context.logger.log(level: ErrorTable.entry(for: failure.error.code).level, "Request failed", metadata: metadata)
    }

    /// A method as a label: one of seven, or `other`.
    static func label(of method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options: method.rawValue
        default: "other"
        }
    }
}
