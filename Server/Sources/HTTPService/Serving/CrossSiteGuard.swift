import HTTPTypes
import Hummingbird
import ServiceErrors

/// Refuses requests that a browser makes for a page of another site, `Origin: null` included (Reference/SecurityCases.md#18).
///
/// Programs and phones send neither `Origin` nor `Sec-Fetch-Site` and pass. So do pages that `WebOrigins` of the listener admits, where the
/// guard is made to let them.
public struct CrossSiteGuard: RouterMiddleware {
    public typealias Context = ServiceRequestContext

    private let admitsWebOrigins: Bool

    /// Creates a guard.
    ///
    /// - Parameter admitsWebOrigins: whether pages of other sites that the listener admits may call the routes.
    public init(admitsWebOrigins: Bool = false) { self.admitsWebOrigins = admitsWebOrigins }

    public func handle(
        _ request: Request, context: ServiceRequestContext, next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        if admitsWebOrigins, context.webOrigin != nil { return try await next(request, context) }
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            throw ServiceError(.crossSite, "Sec-Fetch-Site is not same-origin")
        }
        if Self.isForeign(request) { throw ServiceError(.crossSite, "Origin is not this server") }
        return try await next(request, context)
    }

    /// Whether the page that makes a request is another site's, one of `WebOrigins` included.
    public static func isForeign(_ request: Request) -> Bool {
        request.headers[.origin].map { !isSame(origin: $0, authority: request.head.authority) } ?? false
    }

    /// Compares host and port. The scheme is left out, since a proxy in front may have ended TLS.
    static func isSame(origin: String, authority: String?) -> Bool {
        guard let authority, let separator = origin.firstRange(of: "://") else { return false }
        let scheme = origin[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return false }
        return RequestHeadCheck.comparable(origin[separator.upperBound...], scheme: scheme)
            == RequestHeadCheck.comparable(authority, scheme: scheme)
    }
}

/// Answers only to names of this server, so that a page of another site cannot reach a loopback listener by pointing its own
/// name at 127.0.0.1.
struct HostGuard: RouterMiddleware {
    typealias Context = ServiceRequestContext

    let allowedHosts: Set<String>

    func handle(
        _ request: Request, context: ServiceRequestContext, next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let host = request.head.authority.map(Self.host), Self.loopback.contains(host) || allowedHosts.contains(host) else {
            throw ServiceError(.crossSite, "Host is not a name of this server")
        }
        return try await next(request, context)
    }

    private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// The host of an authority in lower case, without its port.
    static func host(of authority: String) -> String {
        let text = authority.lowercased()
        guard let colon = text.lastIndex(of: ":"), text[text.index(after: colon)...].allSatisfy(\.isNumber) else { return text }
        return text.hasPrefix("[") && !text[..<colon].hasSuffix("]") ? text : String(text[..<colon])
    }
}

/// The headers that keep a browser from doing more with an answer than was meant (Reference/SecurityCases.md#1).
enum SecurityHeaders {
    /// Adds them; what a page or a download has set itself stays, except that types are never guessed.
    static func add(to headers: inout HTTPFields) {
        headers[.xContentTypeOptions] = nil
        headers.append(noSniffing)
        for field in defaults where !headers.contains(field.name) { headers.append(field) }
    }

    /// What a listener with TLS adds (RFC 6797, 6.1).
    static let strictTransport = HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")

    // Made once: a value is checked whenever a field is made of it.
    private static let noSniffing = HTTPField(name: .xContentTypeOptions, value: "nosniff")
    private static let defaults = [
        HTTPField(name: .referrerPolicy, value: "no-referrer"),
        HTTPField(name: .contentSecurityPolicy, value: "default-src 'none'; frame-ancestors 'none'; sandbox"),
        HTTPField(name: .crossOriginResourcePolicy, value: "same-origin"), HTTPField(name: .cacheControl, value: "no-store"),
    ]
}

extension HTTPField.Name {
    /// The id of the request, by which its log line is found.
    static let requestID = HTTPField.Name("X-Request-Id") ?? .via
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .via
    /// Which pages a browser makes a request for (Fetch Metadata).
    public static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .via
    /// How a browser makes a request (Fetch Metadata).
    static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode") ?? .via
    static let traceParent = HTTPField.Name("traceparent") ?? .via
    static let traceState = HTTPField.Name("tracestate") ?? .via
}
