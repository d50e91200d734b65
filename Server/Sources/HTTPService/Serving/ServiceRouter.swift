import HTTPTypes
import Hummingbird
import Logging
import Metrics
import RichPushModel

/// The router of a listener. Everything that is the same for all routes happens here and nowhere else: exact paths, 405
/// with `Allow`, `HEAD` and `OPTIONS`, errors to answers, the one log line, metrics, deadline, body limit, security headers.
///
/// Targets add their routes with the usual functions of `RouterMethods`:
/// `func addRoutes(to router: some RouterMethods<ServiceRequestContext>)`.
public final class ServiceRouter: RouterMethods, HTTPResponderBuilder {
    public typealias Context = ServiceRequestContext

    public private(set) var table = RouteTable()
    private let router = Router(context: ServiceRequestContext.self)
    /// A router apart, because the other one never tries a second branch.
    private let ownRouter = Router(context: ServiceRequestContext.self)
    private let options: ServiceOptions

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

/// How a `ServiceRouter` serves: limits, clock and logging. Sizes in bytes.
public struct ServiceOptions: Sendable {
    public var clock: any ServiceClock
    /// How long a handler may take to the head of its answer, reading the body included; routes with uploads extend it.
    public var requestDeadline: Duration = .seconds(30)
    /// The largest body that any route may read. A longer one is refused when it is read so far, not by its head: a route knows
    /// a smaller limit and the better words for it.
    public var maximumBodyBytes = 128 << 20
    /// The most that the names and values of a request's header fields may have together. HTTP/1.1 itself is cut off at 80 KiB.
    var maximumHeaderBytes = 64 << 10
    /// The level of the access log's line for a request that succeeded; failures have the level of the error table.
    var accessLogLevel: Logger.Level = .debug
    /// How long a connection stays open for the rest of an unread body, so that the client can read the answer first.
    var lingerTime: Duration = .seconds(2)
    /// Names of this server besides the loopback ones that `Host` may have; `nil` accepts every name. Set on a listener for
    /// loopback only, it keeps pages of other sites out that point a name of theirs at it.
    public var allowedHosts: Set<String>?
    /// The pages of other sites that may call routes.
    public var webOrigins = WebOrigins()
    /// Whether answers over TLS require browsers to use TLS for this host for a year (HSTS, RFC 6797). It holds for all ports of the
    /// host, so it is for certificates of a real authority only.
    public var requiresTLS = false
    /// The form of error bodies by path prefix (whole segments); the longest one counts, and problem documents for the rest.
    var errorRenderers: [String: any ErrorRenderer] = [:]
    public var metrics: any MetricsFactory

    public init(clock: any ServiceClock = .system, metrics: any MetricsFactory = MetricsSystem.factory) {
        self.clock = clock
        self.metrics = metrics
    }
}
