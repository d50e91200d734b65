import HTTPTypes
import Hummingbird
import ServiceErrors

/// Refuses requests that a browser makes for a page of another site, `Origin: null` included (Reference/SecurityCases.md#18).
///
/// Programs and phones send neither `Origin` nor `Sec-Fetch-Site` and pass. There is no CORS: nobody is let in by it.
public struct CrossSiteGuard: RouterMiddleware {
    public typealias Context = ServiceRequestContext

    /// Creates a guard.
    public init() {}

    public func handle(
        _ request: Request, context: ServiceRequestContext, next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            throw ServiceError(.crossSite, "Sec-Fetch-Site is not same-origin")
        }
        if let origin = request.headers[.origin], !Self.isSame(origin: origin, authority: request.head.authority) {
            throw ServiceError(.crossSite, "Origin is not this server")
        }
        return try await next(request, context)
    }

    /// Compares host and port. The scheme is left out, since a proxy in front may have ended TLS.
    static func isSame(origin: String, authority: String?) -> Bool {
        guard let authority, let separator = origin.firstRange(of: "://") else { return false }
        let scheme = origin[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return false }
        let port = scheme == "https" ? ":443" : ":80"
        func normalized(_ text: some StringProtocol) -> String {
            let text = text.lowercased()
            return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
        }
        return normalized(origin[separator.upperBound...]) == normalized(authority)
    }
}
