import HTTPService
import HTTPTypes
import Hummingbird

/// Refuses a query where the administration takes none: what is asked for would be ignored in silence.
struct NoStrayQuery: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceRequestContext, next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        // The one route with parameters reads them itself.
        if request.method != .delete { _ = try QueryParameters(of: request, allowed: []) }
        return try await next(request, context)
    }
}
