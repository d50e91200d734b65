import HTTPTypes
import Hummingbird

/// Routes of a protocol that matches paths in its own way, for example without regard to case: everything else of a
/// `ServiceRouter` (limits, deadline, one log line, metrics) holds for them too.
public protocol OwnRoutes: Sendable {
    /// The template of the route that takes the request, for logs and metrics; `nil` when none does. There must be few
    /// templates: each is a label of the metrics. `HEAD` is asked for as `GET`.
    func template(of path: String, method: HTTPRequest.Method) -> String?

    /// Answers a request that has a template.
    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response

    /// The form of their errors.
    var errorRenderer: any ErrorRenderer { get }

    /// Adds what every answer carries, those to errors included.
    func complete(_ response: inout Response, for request: Request, context: ServiceRequestContext)
}

extension OwnRoutes {
    public func complete(_ response: inout Response, for request: Request, context: ServiceRequestContext) {}
}
