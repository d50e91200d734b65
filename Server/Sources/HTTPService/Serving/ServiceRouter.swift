import HTTPTypes
import Hummingbird

/// The router of a listener. Everything that is the same for all routes happens here and nowhere else: exact paths, 405
/// with `Allow`, `HEAD` and `OPTIONS`, errors to answers, the one log line, metrics, deadline, body limit, security headers.
///
/// Targets add their routes with the usual functions of `RouterMethods`:
/// `func addRoutes(to router: some RouterMethods<ServiceRequestContext>)`.
public final class ServiceRouter: RouterMethods, HTTPResponderBuilder {
    public typealias Context = ServiceRequestContext

    /// The routes so far.
    public private(set) var table = RouteTable()
    private let router = Router(context: ServiceRequestContext.self)
    /// A router apart, because the other one never tries a second branch.
    private let ownRouter = Router(context: ServiceRequestContext.self)
    private let options: ServiceOptions

    /// Creates a router without routes.
    public init(options: ServiceOptions = ServiceOptions()) {
        self.options = options
        add(middleware: ErrorSeal())
        if let hosts = options.allowedHosts { add(middleware: HostGuard(allowedHosts: hosts)) }
    }

    @discardableResult
    public func on<Responder: HTTPResponder>(
        _ path: RouterPath, method: HTTPRequest.Method, responder: Responder
    ) -> Self where Responder.Context == ServiceRequestContext {
        table.add(path, method: method)
        router.on(path, method: method, responder: responder)
        return self
    }

    @discardableResult
    public func add(middleware: any MiddlewareProtocol<Request, Response, ServiceRequestContext>) -> Self {
        router.add(middleware: middleware)
        ownRouter.add(middleware: middleware)
        return self
    }

    /// Adds routes that match in their own way; they get what no other route takes. At most one such set.
    public func add(_ routes: some OwnRoutes) {
        table.own = routes
        for method in [HTTPRequest.Method.get, .put, .post, .patch, .delete] {
            // The wildcard stands for one segment at least.
            for path: RouterPath in ["/", "**"] {
                ownRouter.on(path, method: method) { request, context in try await routes.respond(to: request, context: context) }
            }
        }
    }

    public func buildResponder() -> ServiceResponder {
        ServiceResponder(
            routes: router.buildResponder(), ownRoutes: ownRouter.buildResponder(), table: table, options: options)
    }
}

/// Seals every error of a handler; the outermost middleware of a `ServiceRouter`.
private struct ErrorSeal: RouterMiddleware {
    typealias Context = ServiceRequestContext

    func handle(
        _ request: Request, context: ServiceRequestContext, next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            throw SealedError(sealed: error)
        }
    }
}
