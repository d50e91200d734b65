import HTTPService
import HTTPTypes
import Hummingbird

/// The library with which web pages register their browser and show notifications; needs no credentials:
///
/// - `GET /web/v1/clarion.js`: the module that a page imports;
/// - `GET /web/v1/worker.js`: what the service worker of the page imports.
///
/// Pages of every site may load both. Browsers keep them for an hour, and a page may meet a worker of another hour. So below `/web/v1`
/// there are compatible changes only; anything else gets a path of its own.
///
/// Both are small, since every page loads them: `scripts/make-web-library` makes the folder `Served` of the readable files in `Library`.
public struct WebLibraryRoutes: Sendable {
    private let files: [(name: String, file: EmbeddedFile)]

    /// Creates the routes.
    ///
    /// - Parameter version: the version of the program, which the first line of both files names.
    public init(version: String) {
        let made = [("clarion.js", PackageResources.clarion_js), ("worker.js", PackageResources.worker_js)]
        files = made.map { name, bytes in
            let line = "// Clarion \(version), made of Server/Sources/WebLibrary/Library/\(name)\n"
            return (name, EmbeddedFile("text/javascript; charset=utf-8", Array(line.utf8) + bytes))
        }
    }

    /// Adds the routes.
    public func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        for (name, file) in files {
            router.get("/web/v1/\(name)") { request, _ in file.response(to: request, headers: Self.headers) }
        }
    }

    /// They hold nothing of the site or its users, so every page may read them, also one that isolates itself.
    private static let headers: HTTPFields = [
        .accessControlAllowOrigin: "*", .crossOriginResourcePolicy: "cross-origin", .cacheControl: "public, max-age=3600",
    ]
}
