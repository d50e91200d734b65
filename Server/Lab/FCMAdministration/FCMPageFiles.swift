import ConsolePage
import HTTPService
import HTTPTypes
import Hummingbird
import ServiceErrors

/// The page of the local FCM and its files, embedded in the program.
struct FCMPageFiles: Sendable {
    private let index = EmbeddedFile("text/html; charset=utf-8", PackageResources.index_html)
    private let files = PageFiles.styles(own: ["fcm": PackageResources.fcm_css])
        .merging(
            PageFiles.scripts(own: [
                "faults": PackageResources.faults_js, "main": PackageResources.main_js, "phones": PackageResources.phones_js,
                "requests": PackageResources.requests_js, "senders": PackageResources.senders_js,
                "service": PackageResources.service_js,
            ])
        ) { first, _ in first }

    func addRoutes(to group: RouterGroup<ServiceRequestContext>) {
        group.get { request, _ in answer(index, to: request) }
        group.get("assets/:file") { request, context in
            guard let file = files[try context.parameters.require("file")] else {
                throw ServiceError(.notFound, "the page has no such file")
            }
            return answer(file, to: request)
        }
    }

    /// Everything comes from this server, nothing inline; the page is in no frame, and its forms go nowhere.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'", "base-uri 'none'",
        "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private func answer(_ file: EmbeddedFile, to request: Request) -> Response {
        file.response(to: request, headers: [.contentSecurityPolicy: Self.contentSecurityPolicy])
    }
}
