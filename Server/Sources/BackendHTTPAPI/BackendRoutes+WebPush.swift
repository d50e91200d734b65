import AppBackend
import HTTPService
import Hummingbird

/// What a web page has to know before its browser registers.
extension BackendRoutes {
    func addWebPushRoute(to router: some RouterMethods<ServiceRequestContext>) {
        // A page asks before anyone signs in, and the key is public.
        addOpen(.get, "web-push", to: router) { request, _ in
            _ = try QueryParameters(of: request, allowed: [])
            return try .json(await backend.webPushTerms())
        }
    }
}
