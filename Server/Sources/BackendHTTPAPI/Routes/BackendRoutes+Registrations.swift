import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

/// The rich push tutorial's registration calls, to the letter (Reference/AzureNotificationHubs.md#7-2 and #7-3).
extension BackendRoutes {
    func addRegistrationRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "register", to: router) { call in
            let handle = try call.query("handle")["handle"]
            let id = try await backend.newRegistration(handle: handle?.isEmpty == true ? nil : handle, for: call.principal)
            return try .json(id.description)
        }
        add(.put, "register/{id}", to: router) { call in
            _ = try call.query()
            let body = try await call.request.readJSON(
                RegistrationBody.self, known: FieldNames.registration, limits: options.json)
            try await backend.putRegistration(
                id: call.registrationID, platform: body.platform, handle: body.handle, tags: body.tags ?? [],
                for: call.principal)
            return Response(status: .ok)
        }
        add(.delete, "register/{id}", to: router) { call in
            _ = try call.query()
            try await backend.deleteRegistration(id: call.registrationID, for: call.principal)
            return Response(status: .ok)
        }
    }
}

extension AuthenticatedRequest {
    /// The id as it stands in the path; the backend checks its form.
    fileprivate var registrationID: String { context.parameters.get("id") ?? "" }
}
