import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors
import Synchronization
import WebLibrary

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
    let contents: SmallContentCache
    /// Which operation of the access table each route is.
    let operations = RouteOperations()

    /// Creates the routes of one backend.
    public init(backend: RichPushBackend, options: BackendHTTPOptions = BackendHTTPOptions()) {
        self.backend = backend
        self.options = options
        admission = RequestAdmission(limit: options.requestLimit)
        contents = SmallContentCache(clock: options.clock)
    }

    /// Adds all routes, and the library with which web pages call them.
    public func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        WebLibraryRoutes(version: options.version).addRoutes(to: router)
        for prefix in Self.prefixes {
            let group = router.group(RouterPath(prefix)).add(middleware: CrossSiteGuard(admitsWebOrigins: true))
            addRegistrationRoutes(to: group)
            addSendingRoutes(to: group)
            addFollowingRoutes(to: group)
            addScheduleRoutes(to: group)
            addActivityRoutes(to: group)
            addChannelRoutes(to: group)
            addReloadRoutes(to: group)
            addTemplateRoutes(to: group)
            addInboxRoutes(to: group)
            addContentRoutes(to: group)
            addInstallationRoutes(to: group)
            addWebPushRoute(to: group)
            addUserRoutes(to: group)
            addUserImportRoute(to: group)
            addKeyRoutes(to: group)
            addWebhookRoutes(to: group)
            addTokenRoutes(to: group)
            addHubRoutes(to: group)
            addOperatorRoutes(to: group)
        }
    }

    /// Adds a route that only callers reach who may do the operation. Nothing of the request but its head is read before that is known.
    func add(
        _ method: HTTPRequest.Method, _ path: RouterPath, for operation: BackendOperation,
        to router: some RouterMethods<ServiceRequestContext>,
        _ handler: @escaping @Sendable (AuthenticatedRequest) async throws -> Response
    ) {
        operations.note(operation, of: method, path)
        router.on(path, method: method) { request, context in
            try await admission.handling { place in
                let principal = try await authenticate(request, context: context, for: operation)
                try place.assign(to: principal.userID)
                return try await notingRefusal(of: operation, to: principal) {
                    try principal.require(operation)
                    return try await handler(AuthenticatedRequest(request: request, context: context, principal: principal))
                }
            }
        }
    }

    /// Adds a route that needs no credential, and looks at none. It counts for the limit of requests as all others do.
    func addOpen(
        _ method: HTTPRequest.Method, _ path: RouterPath, to router: some RouterMethods<ServiceRequestContext>,
        _ handler: @escaping @Sendable (Request, ServiceRequestContext) async throws -> Response
    ) {
        operations.noteOpen(method, path)
        router.on(path, method: method) { request, context in
            try await admission.handling { _ in try await handler(request, context) }
        }
    }

    /// Does what a caller asks for; `forbidden` goes into the audit.
    func notingRefusal<Result>(
        of operation: BackendOperation, to principal: Principal, _ work: () async throws -> Result
    ) async throws -> Result {
        do { return try await work() } catch let error as ServiceError where error.code == .forbidden {
            await backend.noteRefusal(of: operation, to: principal)
            throw error
        }
    }

    /// The authenticated caller. Throws `unauthenticated` and what the backend throws.
    func authenticate(
        _ request: Request, context: ServiceRequestContext, for operation: BackendOperation? = nil
    ) async throws -> Principal {
        let credential = try credential(of: request)
        return try await backend.authenticate(credential, from: options.source(of: request, context: context), for: operation) {
            context.answerFields.add($0.fields)
        }
    }

    /// What the request is signed with: its `Authorization`, or without one the cookie of the console.
    private func credential(of request: Request) throws(ServiceError) -> PresentedCredential {
        if request.headers[.authorization] == nil, let secret = options.cookie.secret(in: request.headers) {
            try SessionCookie.requireOwnPage(request)
            return .consoleSession(secret)
        }
        return try AuthorizationHeader.credential(in: request.headers)
    }
}

/// Which operation each route is, without its prefix, as the routes are added.
final class RouteOperations: Sendable {
    private let noted = Mutex<[String: BackendOperation]>([:])
    private let notedOpen = Mutex<Set<String>>([])

    /// By method and path, such as `GET users/{name}`.
    var all: [String: BackendOperation] { noted.withLock { $0 } }

    /// The routes that are none, since they need no credential.
    var open: Set<String> { notedOpen.withLock { $0 } }

    func note(_ operation: BackendOperation, of method: HTTPRequest.Method, _ path: RouterPath) {
        let name = Self.name(method, path)
        noted.withLock { $0[name] = operation }
    }

    func noteOpen(_ method: HTTPRequest.Method, _ path: RouterPath) {
        let name = Self.name(method, path)
        _ = notedOpen.withLock { $0.insert(name) }
    }

    private static func name(_ method: HTTPRequest.Method, _ path: RouterPath) -> String {
        "\(method.rawValue) \(path.description.drop { $0 == "/" })"
    }
}

/// Limits of the app backend's routes.
public struct BackendHTTPOptions: Sendable {
    /// The version of the program, which the library for web pages names.
    public var version: String
    /// The clock of the router that serves the routes.
    public var clock: any ServiceClock
    /// How long an upload may take in all.
    public var uploadDeadline: Duration
    /// How many requests may be under way at once; more are answered 503. One user may have a quarter of them, then 429.
    public var requestLimit: Int
    /// The limits of JSON bodies.
    public var json: JSONLimits
    /// The cookie of the console.
    public var cookie: SessionCookie
    /// Whether an address is that of a proxy whose `X-Forwarded-For` is believed.
    public var isTrustedProxy: @Sendable (String) -> Bool

    /// Is called when a request that came over a peer that is no trusted proxy says for whom it was forwarded. With the peer's address,
    /// and more than once.
    public var onUntrustedForwarding: @Sendable (String) -> Void

    /// Where a request came from.
    public func source(of request: Request, context: ServiceRequestContext) -> SourceAddress {
        guard let peer = context.remoteAddress else { return .local }
        let forwarded = request.headers[values: .forwardedFor]
        if CallerAddress.isForwarded(request.headers), !isTrustedProxy(peer) { onUntrustedForwarding(peer) }
        return SourceAddress(CallerAddress.of(peer: peer, forwarded: forwarded, isTrustedProxy: isTrustedProxy))
    }

    /// The largest body that makes sense when a content has at most `contentLimit` bytes: content and thumb in one form, with
    /// room for the words. Each of the two is held to its own limit before the body comes to this one.
    public static func bodyLimit(contentLimit: Int64) -> Int {
        Int(clamping: contentLimit.multipliedReportingOverflow(by: 2).partialValue) + (1 << 20)
    }

    /// Creates options.
    public init(
        version: String = "unknown", clock: any ServiceClock = .system, uploadDeadline: Duration = .seconds(600),
        requestLimit: Int = 2_000, json: JSONLimits = JSONLimits(), cookie: SessionCookie = SessionCookie(isSecure: false),
        isTrustedProxy: @escaping @Sendable (String) -> Bool = { _ in false },
        onUntrustedForwarding: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.version = version
        self.clock = clock
        self.uploadDeadline = uploadDeadline
        self.requestLimit = requestLimit
        self.json = json
        self.cookie = cookie
        self.isTrustedProxy = isTrustedProxy
        self.onUntrustedForwarding = onUntrustedForwarding
    }
}

/// A request of a signed-in caller.
struct AuthenticatedRequest: Sendable {
    let request: Request
    let context: ServiceRequestContext
    let principal: Principal

    /// The id in the path. One that cannot exist is as unknown as one that does not.
    func richID() throws(ServiceError) -> RichID {
        guard let id = context.parameters.get("id").flatMap({ RichID($0) }) else { throw ServiceError(.notFound) }
        return id
    }

    /// The number in the path, of an activity, a key, a schedule or a webhook. One that cannot exist is as unknown as one that does not,
    /// and so is another way to write one, such as `01`: each object has one path.
    func objectID() throws(ServiceError) -> Int64 {
        guard let text = context.parameters.get("id"), let id = Int64(text), id > 0, text == String(id) else {
            throw ServiceError(.notFound)
        }
        return id
    }

    /// The query, of which only the named parameters are known to the route.
    func query(_ allowed: String...) throws(ServiceError) -> QueryParameters {
        try QueryParameters(of: request, allowed: Set(allowed))
    }

    /// The key by which a retry of this request is recognised. Its form is checked by the backend.
    func idempotencyKey() throws(ServiceError) -> String? {
        let values = request.headers[values: .idempotencyKey]
        guard values.count <= 1 else { throw ServiceError(.invalidHeader, "Idempotency-Key is given twice") }
        return values.first
    }
}

extension RequestAllowance {
    /// As draft-ietf-httpapi-ratelimit-headers-10 has them: the policy, and what is left of it for how long.
    fileprivate var fields: HTTPFields {
        [
            .rateLimitPolicy: "\"key\";q=\(perMinute);w=60",
            .rateLimit: "\"key\";r=\(left);t=\(secondsToNext)",
        ]
    }
}

extension HTTPField.Name {
    static let rateLimit = HTTPField.Name("RateLimit") ?? .via
    static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy") ?? .via
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .via
    static let fileName = HTTPField.Name("X-File-Name") ?? .via
}
