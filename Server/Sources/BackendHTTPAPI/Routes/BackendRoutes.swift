import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// The app backend over HTTP: the rich push tutorial's calls, frozen, and what a real product needs beside them.
///
/// Every route exists under `/api` and, the same, under `/api/v1`; `Documentation/openapi.yaml` describes them, and a test
/// compares the two.
public struct BackendRoutes: Sendable {
    /// The prefixes that serve the same routes.
    public static let prefixes = ["/api", APIRoute.prefix]

    let backend: RichPushBackend
    let options: BackendHTTPOptions
    let admission: RequestAdmission
    let contents: HotContents

    /// Creates the routes of one backend.
    public init(backend: RichPushBackend, options: BackendHTTPOptions = BackendHTTPOptions()) {
        self.backend = backend
        self.options = options
        admission = RequestAdmission(limit: options.requestLimit)
        contents = HotContents(clock: options.clock)
    }

    /// Adds all routes.
    public func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        for prefix in Self.prefixes {
            let group = router.group(RouterPath(prefix)).add(middleware: CrossSiteGuard())
            addRegistrationRoutes(to: group)
            addSendingRoutes(to: group)
            addInboxRoutes(to: group)
            addContentRoutes(to: group)
            addInstallationRoutes(to: group)
        }
    }

    /// Adds a route that only signed-in callers reach. Nothing of the request but its head is read before that is known.
    func add(
        _ method: HTTPRequest.Method, _ path: RouterPath, to router: some RouterMethods<ServiceRequestContext>,
        _ handler: @escaping @Sendable (AuthenticatedRequest) async throws -> Response
    ) {
        router.on(path, method: method) { request, context in
            try await admission.handling { place in
                let principal = try await authenticate(request, context: context)
                try place.assign(to: principal.userID)
                return try await handler(AuthenticatedRequest(request: request, context: context, principal: principal))
            }
        }
    }

    /// Who makes the request. Throws `unauthenticated` and what the backend throws.
    func authenticate(_ request: Request, context: ServiceRequestContext) async throws -> Principal {
        let credential = try AuthorizationHeader.credential(in: request.headers)
        return try await backend.authenticate(credential, from: source(of: request, context: context))
    }

    private func source(of request: Request, context: ServiceRequestContext) -> SourceAddress {
        guard let peer = context.remoteAddress else { return .local }
        let forwarded = request.headers[values: .forwardedFor]
        if CallerAddress.isForwarded(request.headers), !options.isTrustedProxy(peer) { options.onUntrustedForwarding(peer) }
        return SourceAddress(CallerAddress.of(peer: peer, forwarded: forwarded, isTrustedProxy: options.isTrustedProxy))
    }
}
