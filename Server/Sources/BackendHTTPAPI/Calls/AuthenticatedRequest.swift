import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// A request of somebody who is signed in.
struct AuthenticatedRequest: Sendable {
    let request: Request
    let context: ServiceRequestContext
    let principal: Principal

    /// The id in the path. One that cannot exist is as unknown as one that does not.
    func richID() throws(ServiceError) -> RichID {
        guard let id = context.parameters.get("id").flatMap({ RichID($0) }) else { throw ServiceError(.notFound) }
        return id
    }

    /// The query, of which only the named parameters are known to the route.
    func query(_ allowed: String...) throws(ServiceError) -> QueryParameters {
        try QueryParameters(of: request, allowed: Set(allowed))
    }

    /// The key by which a repeat of this request is recognised. Its form is checked by the backend.
    func idempotencyKey() throws(ServiceError) -> String? {
        let values = request.headers[values: .idempotencyKey]
        guard values.count <= 1 else { throw ServiceError(.invalidHeader, "Idempotency-Key is given twice") }
        return values.first
    }
}

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .via
    static let fileName = HTTPField.Name("X-File-Name") ?? .via
}
