import AppBackend
import ConsolePage
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors
import TrustedIssuers

/// The console: its page, and how a person begins and ends a session. Everything else that it does goes through `/api/v1` with the cookie
/// that these routes set:
///
/// - `GET {path}/session`: how people sign in here;
/// - `POST {path}/session` with the secret of a link, or with user, password and code;
/// - `DELETE {path}/session`;
/// - `{path}/second-factor`: `GET` says whether the caller has one, `POST` begins one, `PUT` confirms it with a code;
/// - `POST {path}/second-factor/removal` with a code;
/// - `GET {path}/sign-in`, which leads to the provider of the settings;
/// - `GET {path}/sign-in/return`, to which the provider leads back.
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
        group.get("session") { _, _ in try Response.json(Ways(provider: api.backend.consoleProvider)) }
        addSecondFactor(to: group.group("second-factor"))
        // Not guarded: the way there and back leads over another site.
        let provider = router.group(RouterPath(path)).group("sign-in")
        provider.get { request, context in
            try await api.admission.handling { _ in try await leave(request, context) }
        }
        provider.get("return") { request, context in
            try await api.admission.handling { _ in try await comeBack(request, context) }
        }
    }

    /// The answer to `GET {path}/session`.
    private struct Ways: Encodable {
        /// What people know the provider as; absent without one.
        var provider: String?
    }

    /// The body of `POST {path}/session`: a link, or the rest.
    private struct Opening: Decodable {
        var link: String?
        var user: String?
        var password: String?
        var code: String?
    }

    /// The body with a code of a second factor.
    private struct CodeBody: Decodable {
        var code: String
    }

    /// The answer to a second factor that is confirmed.
    private struct RecoveryCodes: Encodable {
        var recoveryCodes: [String]
    }

    private func addSecondFactor(to group: RouterGroup<ServiceRequestContext>) {
        group.get { request, context in
            try await signedIn(request, context) { try .secret(await api.backend.secondFactor(of: $0), status: .ok) }
        }
        group.post { request, context in
            try await signedIn(request, context) { try .secret(await api.backend.beginSecondFactor(for: $0), status: .created) }
        }
        group.put { request, context in
            try await signedIn(request, context) { principal in
                let code = try await Self.code(in: request)
                return try .secret(
                    RecoveryCodes(recoveryCodes: await api.backend.confirmSecondFactor(code, for: principal)), status: .created)
            }
        }
        group.post("removal") { request, context in
            try await signedIn(request, context) { principal in
                try await api.backend.removeSecondFactor(try await Self.code(in: request), for: principal)
                return Response(status: .noContent)
            }
        }
    }

    private static func code(in request: Request) async throws -> String {
        try await request.readJSON(CodeBody.self, known: ["code"], limits: JSONLimits(byteCount: 1_024)).code
    }

    /// Answers a request of the page for the person whose session it has.
    private func signedIn(
        _ request: Request, _ context: ServiceRequestContext, _ answer: (Principal) async throws -> Response
    ) async throws -> Response {
        try await api.admission.handling { _ in
            try SessionCookie.requireOwnPage(request)
            guard let secret = options.cookie.secret(in: request.headers) else {
                throw ServiceError(.unauthenticated, "the session of the console has ended")
            }
            return try await answer(
                try await api.backend.authenticate(.consoleSession(secret), from: options.source(of: request, context: context)))
        }
    }

    private func begin(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        try SessionCookie.requireOwnPage(request)
        let opening = try await request.readJSON(
            Opening.self, known: ["link", "user", "password", "code"], limits: JSONLimits(byteCount: 8_192))
        let session = try await session(opening, from: options.source(of: request, context: context))
        var response = try Response.secret(SignedInUser(session.principal), status: .created)
        response.headers[.setCookie] = field(session)
        return response
    }

    private func session(_ opening: Opening, from source: SourceAddress) async throws -> NewConsoleSession {
        if let link = opening.link { return try await api.backend.beginConsoleSession(link: link, from: source) }
        guard let user = opening.user, let password = opening.password, let code = opening.code else {
            throw ServiceError(.invalidField, "link: it must be present, or user, password and code")
        }
        return try await api.backend.beginConsoleSession(user: user, password: password, code: code, from: source)
    }

    private func field(_ session: NewConsoleSession) -> String {
        options.cookie.field(session.secret, for: session.endsAt - options.clock.now)
    }

    private func leave(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        try await redirecting {
            let start = try await api.backend.beginProviderSignIn(from: options.source(of: request, context: context))
            let cookie = options.cookie.field(start.attempt, .signIn, for: ProviderSignIn.attemptLife)
            return (start.address, [cookie])
        }
    }

    private func comeBack(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        try await redirecting {
            let session = try await api.backend.finishProviderSignIn(
                Self.answer(in: request), attempt: options.cookie.secret(.signIn, in: request.headers),
                from: options.source(of: request, context: context))
            return (path, [field(session), options.cookie.expired(.signIn)])
        }
    }

    /// Leads the browser to an address with cookies, or to the page that says why not.
    private func redirecting(_ work: () async throws -> (address: String, cookies: [String])) async throws -> Response {
        let (address, cookies): (String, [String])
        do { (address, cookies) = try await work() } catch let refusal as ConsoleRefusal {
            // An address that another site made up must not end an attempt that is under way.
            let isOver = refusal != .beginAgain && refusal != .tooMany
            (address, cookies) = ("\(path)#/refused/\(refusal.rawValue)", isOver ? [options.cookie.expired(.signIn)] : [])
        }
        var response = Response(status: .seeOther, headers: [.location: address, .cacheControl: "no-store"])
        for cookie in cookies { response.headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return response
    }

    /// The provider's answer. One that cannot be read is one without a state.
    private static func answer(in request: Request) -> ProviderSignIn.Answer {
        guard let query = try? QueryParameters(request.uri.query ?? "", taking: ["code", "state", "iss", "error"]) else {
            return ProviderSignIn.Answer()
        }
        return ProviderSignIn.Answer(code: query["code"], state: query["state"], issuer: query["iss"], error: query["error"])
    }

    private func end(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        try SessionCookie.requireOwnPage(request)
        var response = Response(status: .noContent)
        response.headers[.setCookie] = options.cookie.expired()
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

/// The cookies of the console.
///
/// Over TLS its name begins with `__Host-`, so that no other host and no plain connection can set it (RFC 6265bis, 4.1.3.2). `Lax` instead of
/// `Strict`, so that a link in a mail finds the person signed in; `requireOwnPage` refuses what other sites send with it.
public struct SessionCookie: Sendable, Hashable {
    /// Whether browsers reach the server over TLS.
    public var isSecure: Bool

    /// Creates a value.
    public init(isSecure: Bool) { self.isSecure = isSecure }

    /// What a cookie holds.
    enum Purpose: String {
        /// The session.
        case session = "clarion-console"
        /// An attempt to sign in at the provider.
        case signIn = "clarion-sign-in"
    }

    private func name(_ purpose: Purpose) -> String { (isSecure ? "__Host-" : "") + purpose.rawValue }

    /// The value in a request; `nil` without one, and when there are several.
    func secret(_ purpose: Purpose = .session, in headers: HTTPFields) -> String? {
        let name = name(purpose)
        let values = headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair -> String? in
            let parts = pair.split(separator: "=", maxSplits: 1).map { String($0.filter { !$0.isWhitespace }) }
            return parts.count == 2 && parts[0] == name ? parts[1] : nil
        }
        return values.count == 1 ? values[0] : nil
    }

    func field(_ secret: String, _ purpose: Purpose = .session, for life: Duration) -> String {
        "\(name(purpose))=\(secret); Max-Age=\(max(0, life.components.seconds)); \(attributes)"
    }

    /// Removes it from the browser.
    func expired(_ purpose: Purpose = .session) -> String { "\(name(purpose))=; Max-Age=0; \(attributes)" }

    private var attributes: String { "Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "") }

    /// Throws `cross-site` for a request of a page of another site, and for one that changes something unless the browser says that a
    /// page of this server makes it.
    ///
    /// `CrossSiteGuard` lets pages pass that `web-origins` names. Browsers may send the cookie with their calls, since `SameSite` takes all
    /// hosts of one domain for one site.
    static func requireOwnPage(_ request: Request) throws(ServiceError) {
        guard !CrossSiteGuard.isForeign(request) else {
            throw ServiceError(.crossSite, "the session of the console is for its own page alone")
        }
        guard request.method != .get, request.method != .head else { return }
        guard request.headers[.secFetchSite] == "same-origin" || request.headers[.origin] != nil else {
            throw ServiceError(.crossSite, "the request names no Origin; the console is used from its own page")
        }
    }
}
