import HTTPService
import HTTPTypes
import Hummingbird

/// The service worker of the page: `GET /phone-worker.js` loads the web library's part of this server, and nothing else.
///
/// It is at the root, because the scope of a worker ends with its folder: that of `/phone/worker.js` would not cover `/phone`. It takes no
/// requests of pages, so that the server's other pages do not notice it.
struct PhoneWorkerRoute: Sendable {
    private let file = EmbeddedFile("text/javascript; charset=utf-8", Array("importScripts('/web/v1/worker.js');\n".utf8))

    func addRoute(to router: some RouterMethods<ServiceRequestContext>) {
        router.get("phone-worker.js") { request, _ in
            file.response(to: request, headers: [.contentSecurityPolicy: Self.contentSecurityPolicy])
        }
    }

    /// What counts for a worker is the policy of its own script. The picture of a notification has a `data:` address.
    private static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "connect-src 'self'", "img-src data:",
    ].joined(separator: "; ")
}
