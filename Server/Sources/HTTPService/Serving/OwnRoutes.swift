import HTTPTypes
import Hummingbird

/// Routes of a protocol that matches paths in its own way, for example without regard to case: everything else of a
/// `ServiceRouter` (limits, deadline, one log line, metrics) holds for them too.
public protocol OwnRoutes: Sendable {
    /// The route that takes the request; `nil` when none does. `HEAD` is asked for as `GET`.
    func match(path: String, method: HTTPRequest.Method) -> OwnMatch?

    /// Whether a request for a path that has a route is meant for this protocol. For any other the path does not exist.
    func takes(_ request: Request) -> Bool

    /// Answers a request that has a route. `context.ownRoute` is what the match said of it.
    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response

    /// The form of their errors.
    var errorRenderer: any ErrorRenderer { get }

    /// Adds what every answer carries, those to errors included.
    func complete(_ response: inout Response, for request: Request, context: ServiceRequestContext)
}

/// What such routes make of a path.
public struct OwnMatch: Sendable {
    /// For logs and metrics. There must be few templates: each is a label of the metrics.
    public let template: String
    /// What was found out besides, so that it need not be found out twice.
    public let route: (any Sendable)?

    /// Creates a match.
    public init(template: String, route: (any Sendable)? = nil) {
        self.template = template
        self.route = route
    }
}

extension OwnRoutes {
    public func takes(_ request: Request) -> Bool { true }

    public func complete(_ response: inout Response, for request: Request, context: ServiceRequestContext) {}
}
