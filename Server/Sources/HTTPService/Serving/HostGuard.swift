import HTTPTypes
import Hummingbird
import ServiceErrors

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
