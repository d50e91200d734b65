import HTTPTypes
import Hummingbird
import ServiceErrors

/// The pages of other sites that may call some of the routes (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). The only place
/// that knows the rule: the responder asks it for every request, and `CrossSiteGuard` lets pass what it admits.
///
/// An origin counts as a whole, with scheme, host and port. No page gets answers to calls with cookies: there is no
/// `Access-Control-Allow-Credentials`, and the session of the console signs calls of this server's own page alone.
public struct WebOrigins: Sendable {
    private let origins: Set<String>
    private let paths: [String]

    /// Creates a rule; by default no other site may call anything.
    ///
    /// - Parameters:
    ///   - origins: as browsers write them, such as `https://shop.example`.
    ///   - paths: the beginnings of the routes that they may call, such as `/api`.
    public init(_ origins: [String] = [], below paths: [String] = []) {
        self.origins = Set(origins)
        self.paths = paths
    }

    /// The origin of the page for which a browser makes a request, when that is another site's and may call this path.
    func admitted(_ request: Request) -> String? {
        guard let origin = request.headers[.origin], origins.contains(origin), covers(request), CrossSiteGuard.isForeign(request)
        else { return nil }
        return origin
    }

    /// The answer to what a browser asks before it makes a call for a page; `nil` when the request is no such question.
    ///
    /// It allows the same for every path, so that a page can read why a call of it is refused. Throws `cross-site` to other pages.
    func preflightAnswer(to request: Request, from origin: String?) throws(ServiceError) -> Response? {
        guard request.method == .options, request.headers[.accessControlRequestMethod] != nil, covers(request),
            CrossSiteGuard.isForeign(request)
        else { return nil }
        guard origin != nil else { throw ServiceError(.crossSite, "Origin is neither this server nor in web-origins") }
        return Response(status: .noContent, headers: Self.permissions)
    }

    /// Adds what lets the page read an answer, whatever the answer is.
    func write(to headers: inout HTTPFields, of request: Request, from origin: String?) {
        guard !origins.isEmpty, covers(request) else { return }
        // Also without an origin, so that no cache gives one page the answer to another.
        headers.append(HTTPField(name: .vary, value: "Origin"))
        guard let origin else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = Self.exposed
        headers[.crossOriginResourcePolicy] = "cross-origin"
    }

    private func covers(_ request: Request) -> Bool {
        let path = request.uri.path
        return paths.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    /// Every field of a request that routes read and that a page has to ask for.
    private static let permissions: HTTPFields = [
        .accessControlAllowMethods: "GET, HEAD, POST, PUT, PATCH, DELETE",
        .accessControlAllowHeaders: """
        Authorization, Content-Type, Accept, Accept-Language, Idempotency-Key, If-Match, If-None-Match, If-Range, Range, X-File-Name, \
        traceparent, tracestate
        """,
        .accessControlMaxAge: "600",
    ]

    /// The fields of an answer that clients read.
    private static let exposed = """
        ETag, Content-Range, Accept-Ranges, Content-Disposition, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id
        """
}
