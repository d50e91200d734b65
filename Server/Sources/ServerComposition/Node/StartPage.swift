import BackendHTTPAPI
import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceErrors

/// The page that a browser shows at the address of a node: that it runs, and where to go on.
package struct StartPage: Sendable {
    /// A place to go to from here.
    package struct Link: Sendable {
        var path: String
        var title: String

        package init(path: String, title: String) {
            self.path = path
            self.title = title
        }
    }

    var links: [Link]

    /// The page. Its texts are the program's own: nothing of the request is echoed.
    func response() -> Response {
        let items = (links + Self.always).map { "<li><a href=\"\($0.path)\">\($0.title)</a>" }.joined(separator: "\n")
        let page = """
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Clarion</title>
            <h1>Clarion runs here.</h1>
            <p>Apps sign in and fetch notifications below <code>/api</code>. Backends use the hub protocol with the text that
            <code>clarion hub connection-string</code> prints.
            <ul>
            \(items)
            </ul>

            """
        return Response(
            status: .ok,
            headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .link: APIReferenceRoute.links],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }

    private static let always = [
        Link(path: "/docs/api", title: "The HTTP interface, to read and to try"),
        Link(path: "/docs/api/hub", title: "The hub protocol, to read"),
        Link(path: "/docs/errors", title: "What errors mean"), Link(path: "/docs/outcomes", title: "What became of a push"),
        Link(path: "/readyz", title: "Whether it is ready"),
    ]
}

extension HTTPField.Name {
    /// `Link`, which leads programs to the description of the API.
    fileprivate static let link = HTTPField.Name("Link") ?? .via
}

/// What a worker answers to requests that other nodes serve. It is healthy, so a misconfigured load balancer sends it requests; a 404
/// would make phones and senders conclude that the resource does not exist.
struct WorkerRoutes: OwnRoutes {
    func match(path: String, method: HTTPRequest.Method) -> OwnMatch? { OwnMatch(template: "/*") }

    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        throw ServiceError(
            .notReady, "this node has the role worker and answers no requests; they are for nodes with the role api or all")
    }

    var errorRenderer: any ErrorRenderer { ProblemRenderer() }
}
