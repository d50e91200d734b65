import HTTPService
import HTTPTypes
import Hummingbird
import ServiceErrors

/// What a worker says to requests that are for other nodes. It is there and well, so a load balancer that was told of it by mistake sends
/// it requests; a 404 would make phones and senders believe that there is nothing.
struct WorkerRoutes: OwnRoutes {
    func match(path: String, method: HTTPRequest.Method) -> OwnMatch? { OwnMatch(template: "/*") }

    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        throw ServiceError(
            .notReady, "this node has the role worker and answers no requests; they are for nodes with the role api or all")
    }

    var errorRenderer: any ErrorRenderer { ProblemRenderer() }
}
