import AppBackend
import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

extension BackendRoutes {
    func addInstallationRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "installations", to: router) { call in
            let user = try call.query("user")["user"]
            return try .json(await backend.devices(ofUser: user, for: call.principal))
        }
        add(.put, "installations/{id}", to: router) { call in
            _ = try call.query()
            let id = try call.installationID()
            let update = try await call.request.readJSON(
                InstallationUpdate.self, known: FieldNames.installation, limits: options.json)
            return try .json(await backend.putInstallation(id: id, update: update, for: call.principal))
        }
        add(.delete, "installations/{id}", to: router) { call in
            _ = try call.query()
            try await backend.deleteInstallation(id: call.installationID(), for: call.principal)
            return Response(status: .noContent)
        }
        add(.get, "sealing", to: router) { call in
            let users = try call.query("users")["users"]
            let names = users?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return try .json(await backend.sealingDirectory(users: names, for: call.principal))
        }
        add(.get, "me", to: router) { call in
            _ = try call.query()
            let principal = call.principal
            return try .json(
                SignedInUser(
                    user: principal.name.text, role: principal.role.rawValue, installation: principal.installation))
        }
    }
}

extension AuthenticatedRequest {
    /// The installation in the path.
    fileprivate func installationID() throws(ServiceError) -> InstallationID {
        guard let id = context.parameters.get("id").flatMap({ InstallationID($0) }) else {
            throw ServiceError(.invalidField, "an installation id has 1 to 128 of A-Z a-z 0-9 _ -")
        }
        return id
    }
}
