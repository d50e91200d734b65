import HTTPTypes
import Hummingbird

/// `GET /docs/errors`: the page to which the `type` of every problem leads.
public struct ErrorReferenceRoute: Sendable {
    /// Creates the route.
    public init() {}

    /// Adds the route.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/docs/errors") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/markdown; charset=utf-8", .cacheControl: "max-age=3600"],
                body: .init(byteBuffer: ByteBuffer(string: ErrorTable.markdown)))
        }
    }
}
