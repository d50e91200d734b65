import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceErrors

/// The console: a page that talks to `/api/v1` like any other client.
///
/// - `GET {path}`: the page;
/// - `GET {path}/assets/{file}`: its files, embedded in the program.
public struct ConsolePageRoutes: Sendable {
    private let path: String
    private let index: EmbeddedFile

    /// Creates the routes.
    ///
    /// - Parameter path: where the console is, such as `/console`.
    public init(path: String) {
        self.path = path
        let page = String(decoding: PackageResources.index_html, as: UTF8.self)
        index = EmbeddedFile("text/html; charset=utf-8", Array(page.replacing("/console/", with: "\(path)/").utf8))
    }

    /// Adds the routes.
    public func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        let group = router.group(RouterPath(path))
        group.get { request, _ in Self.answer(index, to: request) }
        group.get("assets/:file") { request, context in
            guard let file = Self.files[try context.parameters.require("file")] else {
                throw ServiceError(.notFound, "the console has no such file")
            }
            return Self.answer(file, to: request)
        }
    }

    private static let files = PageFiles.styles(own: styles).merging(PageFiles.scripts(own: scripts)) { first, _ in first }

    private static let styles: [String: [UInt8]] = [
        "console": PackageResources.console_css, "preview": PackageResources.preview_css,
    ]

    private static let scripts: [String: [UInt8]] = [
        "api": PackageResources.api_js, "audience": PackageResources.audience_js, "audit": PackageResources.audit_js,
        "compose": PackageResources.compose_js, "credential": PackageResources.credential_js,
        "dialog": PackageResources.dialog_js, "factor": PackageResources.factor_js, "draft": PackageResources.draft_js,
        "format": PackageResources.format_js,
        "health": PackageResources.health_js, "home": PackageResources.home_js, "hubs": PackageResources.hubs_js,
        "keys": PackageResources.keys_js, "languages": PackageResources.languages_js, "list": PackageResources.list_js,
        "main": PackageResources.main_js,
        "parts": PackageResources.parts_js, "people": PackageResources.people_js, "person": PackageResources.person_js,
        "plot": PackageResources.plot_js, "preview": PackageResources.preview_js, "route": PackageResources.route_js,
        "schedules": PackageResources.schedules_js, "send": PackageResources.send_js, "sends": PackageResources.sends_js,
        "settings": PackageResources.settings_js,
        "shell": PackageResources.shell_js, "signin": PackageResources.signin_js, "split": PackageResources.split_js,
        "activities": PackageResources.activities_js, "templates": PackageResources.templates_js,
        "webhooks": PackageResources.webhooks_js,
    ]

    /// Everything comes from this server, nothing inline; pictures that are about to be sent are shown from the browser's memory.
    static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' blob:",
        "media-src blob:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static func answer(_ file: EmbeddedFile, to request: Request) -> Response {
        file.response(to: request, headers: [.contentSecurityPolicy: contentSecurityPolicy])
    }
}

/// The parts that the pages of the server share, and the types of their files.
public enum PageFiles {
    /// Style sheets by file name, the shared ones among them.
    public static func styles(own: [String: [UInt8]]) -> [String: EmbeddedFile] {
        var files = ["clarion.svg": EmbeddedFile("image/svg+xml", PackageResources.clarion_svg)]
        let shared = ["base": PackageResources.base_css, "parts": PackageResources.parts_css]
        for (name, bytes) in own.merging(shared, uniquingKeysWith: { first, _ in first }) {
            files[name + ".css"] = EmbeddedFile("text/css; charset=utf-8", bytes)
        }
        return files
    }

    /// Modules by file name, the shared ones among them.
    public static func scripts(own: [String: [UInt8]]) -> [String: EmbeddedFile] {
        var files: [String: EmbeddedFile] = [:]
        for (name, bytes) in own.merging(shared, uniquingKeysWith: { first, _ in first }) {
            files[name + ".js"] = EmbeddedFile("text/javascript; charset=utf-8", bytes)
        }
        return files
    }

    private static let shared: [String: [UInt8]] = [
        "choices": PackageResources.choices_js, "dom": PackageResources.dom_js, "icons": PackageResources.icons_js,
        "toast": PackageResources.toast_js,
    ]
}
