import AppBackend
import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

extension BackendRoutes {
    func addInstallationRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "installations", for: .listDevices, to: router) { call in
            let user = try call.query("user")["user"]
            return try .json(await backend.devices(ofUser: user, for: call.principal))
        }
        add(.put, "installations/{id}", for: .putInstallation, to: router) { call in
            _ = try call.query()
            let id = try call.installationID()
            let update = try await call.request.readJSON(
                InstallationUpdate.self, known: FieldNames.installation, limits: options.json)
            return try .json(await backend.putInstallation(id: id, update: update, for: call.principal))
        }
        add(.delete, "installations/{id}", for: .deleteInstallation, to: router) { call in
            _ = try call.query()
            try await backend.deleteInstallation(id: call.installationID(), for: call.principal)
            return Response(status: .noContent)
        }
        add(.get, "sealing", for: .askForKeys, to: router) { call in
            let users = try call.query("users")["users"]
            let names = users?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return try .json(await backend.sealingDirectory(users: names, for: call.principal))
        }
        add(.get, "me", for: .readOneself, to: router) { call in
            _ = try call.query()
            return try .json(SignedInUser(call.principal))
        }
    }
}

extension AuthenticatedRequest {
    /// The installation in the path.
    func installationID() throws(ServiceError) -> InstallationID {
        guard let id = context.parameters.get("id").flatMap({ InstallationID($0) }) else {
            throw ServiceError(.invalidField, "an installation id has 1 to 128 of A-Z a-z 0-9 _ -")
        }
        return id
    }
}

/// The rich push tutorial's registration calls, to the letter (Reference/AzureNotificationHubs.md#7-2 and #7-3).
extension BackendRoutes {
    func addRegistrationRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "register", for: .registerDevice, to: router) { call in
            let handle = try call.query("handle")["handle"]
            let id = try await backend.newRegistration(handle: handle?.isEmpty == true ? nil : handle, for: call.principal)
            return try .json(id.description)
        }
        add(.put, "register/{id}", for: .registerDevice, to: router) { call in
            _ = try call.query()
            let body = try await call.request.readJSON(
                RegistrationBody.self, known: FieldNames.registration, limits: options.json)
            try await backend.putRegistration(
                id: call.registrationID, platform: body.platform, handle: body.handle, tags: body.tags ?? [],
                for: call.principal)
            return Response(status: .ok)
        }
        add(.delete, "register/{id}", for: .registerDevice, to: router) { call in
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

/// The answer to `GET /api/v1/me`.
struct SignedInUser: Encodable {
    /// The name as it was stored.
    var user: String
    /// `user`, `sender`, `admin`, `auditor` or `service`.
    var role: String
    /// The installation whose credential signed the request, if one did.
    var installation: InstallationID?
    /// What the caller may do, by the names of the operations: `own` or `all`.
    var operations: [String: String]

    init(_ principal: Principal) {
        user = principal.name.text
        role = principal.role.rawValue
        installation = principal.installation
        let extents = BackendOperation.allCases.map { ($0.name, AccessTable.extent(of: $0, for: principal)) }
        operations = Dictionary(uniqueKeysWithValues: extents.filter { $0.1 != .none }.map { ($0.0, "\($0.1)") })
    }
}

/// The body of the rich push tutorial's `PUT /api/register/{id}` (Reference/AzureNotificationHubs.md#7-2), with the names that
/// its client writes.
struct RegistrationBody: Decodable {
    var platform: String
    var handle: String
    var tags: [String]?

    private enum CodingKeys: String, CodingKey {
        case platform = "Platform"
        case handle = "Handle"
        case tags = "Tags"
    }
}
