import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import PushHub
import ServiceErrors

/// The body of `POST /api/v1/hubs/{name}/rules/{rule}/roll`.
struct HubKeyRoll: Decodable {
    /// `primary` or `secondary`.
    var key: String
}

extension BackendRoutes {
    func addHubRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "hubs", for: .readHubs, to: router) { call in
            let query = try call.query("after", "limit")
            let limit = try query.number("limit", in: 1...HubRegistry.maximumPage) ?? HubRegistry.maximumPage
            return try .json(await backend.hubs(after: query["after"], limit: limit))
        }
        add(.post, "hubs", for: .changeHubs, to: router) { call in
            _ = try call.query()
            let request = try await call.request.readJSON(HubCreation.self, known: FieldNames.newHub, limits: options.json)
            return try .secret(await backend.createHub(request, by: call.principal), status: .created)
        }
        add(.get, "hubs/{name}", for: .readHubs, to: router) { call in
            _ = try call.query()
            return try .json(await backend.hub(call.word("name")))
        }
        add(.post, "hubs/{name}/rules/{rule}/roll", for: .changeHubs, to: router) { call in
            _ = try call.query()
            let (name, rule) = (try call.word("name"), try call.word("rule"))
            let roll = try await call.request.readJSON(HubKeyRoll.self, known: FieldNames.hubKeyRoll, limits: options.json)
            guard let place = HubRegistry.KeyPlace(rawValue: roll.key) else {
                throw ServiceError(.invalidField, "key: primary or secondary")
            }
            return try .secret(
                await backend.rollHubKey(place, ofRule: rule, of: name, by: call.principal), status: .created)
        }
        addHubCredentialRoutes(to: router)
        add(.delete, "hubs/{name}", for: .changeHubs, to: router) { call in
            let name = try call.word("name")
            // The name a second time, since a hub goes with all its devices.
            guard try call.query("confirm")["confirm"] == name else {
                throw ServiceError(.invalidField, "query parameter 'confirm': the name of the hub, as in the path")
            }
            try await backend.removeHub(name, by: call.principal)
            return Response(status: .noContent)
        }
    }
}

extension BackendRoutes {
    private func addHubCredentialRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.put, "hubs/{name}/apns", for: .changeHubs, to: router) { call in
            _ = try call.query()
            let request = try await call.request.readJSON(
                HubCredentialRequest.self, known: FieldNames.hubCredential, limits: options.json)
            return try .json(await backend.setHubCredential(request, of: call.word("name"), by: call.principal))
        }
        add(.delete, "hubs/{name}/apns", for: .changeHubs, to: router) { call in
            _ = try call.query()
            return try .json(await backend.removeHubCredential(of: call.word("name"), by: call.principal))
        }
        add(.post, "hubs/{name}/apns/trial", for: .changeHubs, to: router) { call in
            _ = try call.query()
            return try .json(await backend.tryHubCredential(of: call.word("name"), by: call.principal))
        }
    }
}

extension AuthenticatedRequest {
    /// A part of the path.
    fileprivate func word(_ name: String) throws(ServiceError) -> String {
        guard let word = context.parameters.get(name) else { throw ServiceError(.notFound) }
        return word
    }
}
