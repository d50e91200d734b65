import AppBackend
import ConsolePage
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// The console: its page, and how a person begins and ends a session. Everything else that it does goes through `/api/v1` with the cookie
/// that these routes set:
///
/// - `POST {path}/session` with the secret of a link;
/// - `DELETE {path}/session`.
public struct ConsoleRoutes: Sendable {
    private let api: BackendRoutes
    private let path: String
    private var options: BackendHTTPOptions { api.options }

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - api: what the page calls; both count as one for the limit of requests.
    ///   - path: where the console is, such as `/console`.
    public init(on api: BackendRoutes, path: String) {
        self.api = api
        self.path = path
    }

    /// Adds the routes.
    public func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        ConsolePageRoutes(path: path).addRoutes(to: router)
        let group = router.group(RouterPath(path)).add(middleware: CrossSiteGuard())
        group.post("session") { request, context in
            try await api.admission.handling { _ in try await begin(request, context) }
        }
        group.delete("session") { request, context in
            try await api.admission.handling { _ in try await end(request, context) }
        }
    }

    /// The body of `POST {path}/session`.
    private struct Opening: Decodable {
        var link: String
    }

    private func begin(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        try SessionCookie.requireOwnPage(request)
        let opening = try await request.readJSON(Opening.self, known: ["link"], limits: JSONLimits(byteCount: 1_024))
        let session = try await api.backend.beginConsoleSession(
            link: opening.link, from: options.source(of: request, context: context))
        var response = try Response.secret(SignedInUser(session.principal), status: .created)
        response.headers[.setCookie] = options.cookie.field(session.secret, until: session.endsAt, at: options.clock.now)
        return response
    }

    private func end(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        try SessionCookie.requireOwnPage(request)
        var response = Response(status: .noContent)
        response.headers[.setCookie] = options.cookie.expired
        guard let secret = options.cookie.secret(in: request.headers) else { return response }
        do {
            let principal = try await api.backend.authenticate(
                .consoleSession(secret), from: options.source(of: request, context: context))
            try await api.backend.endConsoleSession(principal)
        } catch let error as ServiceError where error.code == .unauthenticated {
            // It has ended already.
        }
        return response
    }
}

/// The cookie with the session of the console.
///
/// Over TLS its name begins with `__Host-`, so that no other host and no plain connection can set it (RFC 6265bis, 4.1.3.2). `Lax` instead of
/// `Strict`, so that a link in a mail finds the person signed in; `requireOwnPage` refuses what other sites send with it.
public struct SessionCookie: Sendable, Hashable {
    /// Whether browsers reach the server over TLS.
    public var isSecure: Bool

    /// Creates a value.
    public init(isSecure: Bool) { self.isSecure = isSecure }

    var name: String { isSecure ? "__Host-clarion-console" : "clarion-console" }

    /// The value in a request; `nil` without one, and when there are several.
    func secret(in headers: HTTPFields) -> String? {
        let values = headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1).map { String($0.filter { !$0.isWhitespace }) }
            return parts.count == 2 && parts[0] == name ? parts[1] : nil
        }
        return values.count == 1 ? values[0] : nil
    }

    func field(_ secret: String, until end: Timestamp, at now: Timestamp) -> String {
        "\(name)=\(secret); Max-Age=\(max(0, (end - now).components.seconds)); \(attributes)"
    }

    /// Removes it from the browser.
    var expired: String { "\(name)=; Max-Age=0; \(attributes)" }

    private var attributes: String { "Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "") }

    /// Throws `cross-site` for a request that changes something unless the browser says that a page of this server makes it. `CrossSiteGuard`
    /// has compared `Origin` with the host.
    static func requireOwnPage(_ request: Request) throws(ServiceError) {
        guard request.method != .get, request.method != .head else { return }
        guard request.headers[.secFetchSite] == "same-origin" || request.headers[.origin] != nil else {
            throw ServiceError(.crossSite, "the request names no Origin; the console is used from its own page")
        }
    }
}
