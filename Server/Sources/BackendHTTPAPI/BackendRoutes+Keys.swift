import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import ServiceErrors

/// The body of `POST /api/v1/keys/{id}/roll`.
struct KeyRoll: Decodable {
    /// How long the old secret still holds; 86,400 if absent.
    var overlapSeconds: Int?
}

extension BackendRoutes {
    func addKeyRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "keys", for: .manageKeys, to: router) { call in
            let query = try call.query("after", "limit")
            let after = try query.number("after", in: 0...Int.max) ?? 0
            let limit = try query.number("limit", in: 1...200) ?? 200
            return try .json(await backend.keys(after: Int64(after), limit: limit))
        }
        add(.post, "keys", for: .manageKeys, to: router) { call in
            _ = try call.query()
            let request = try await call.request.readJSON(ServiceKeyRequest.self, known: FieldNames.key, limits: options.json)
            return try .secret(await backend.createKey(request, by: call.principal), status: .created)
        }
        add(.post, "keys/{id}/roll", for: .manageKeys, to: router) { call in
            _ = try call.query()
            let id = try call.objectID()
            let roll = try await call.request.readJSON(KeyRoll.self, known: FieldNames.keyRoll, limits: options.json)
            let overlap = Duration.seconds(roll.overlapSeconds ?? 86_400)
            return try .secret(await backend.rollKey(id, overlap: overlap, by: call.principal), status: .created)
        }
        add(.delete, "keys/{id}", for: .manageKeys, to: router) { call in
            _ = try call.query()
            try await backend.revokeKey(call.objectID(), by: call.principal)
            return Response(status: .noContent)
        }
    }
}

extension Response {
    /// An answer that holds a secret: no cache may keep it.
    static func secret(_ value: some Encodable, status: HTTPResponse.Status) throws -> Response {
        var response = try Response.json(value, status: status)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
