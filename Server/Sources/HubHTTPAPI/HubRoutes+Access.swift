import HTTPService
import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import ServiceErrors
import SharedAccess

extension HubRoutes {
    /// The request with what its token grants. Throws `unauthenticated`, `forbidden` and, only to who holds a key of this server,
    /// `not-found` for a hub that does not exist.
    func admitted(_ request: Request, _ route: HubRoute, _ context: ServiceRequestContext) async throws -> HubCall {
        let served = route.hub.isEmpty ? nil : try await directory.hub(named: route.hub)
        let common = try await directory.catalog.commonRules()
        let isForAllHubs = try? grant(request, common)
        // Hubs as such are the business of keys for all hubs: the key of one hub shall not make or remove hubs.
        if isForAllHubs == nil, route.operation.isOfAllHubs, (try? grant(request, served?.rules ?? [])) != nil {
            throw ServiceError(.forbidden, "A key of all hubs is required for this operation")
        }
        let grant = try isForAllHubs ?? grant(request, route.operation.isOfAllHubs ? common : served?.rules ?? [])
        let query = HubProtocol.QueryParameters(request.uri.query)
        guard grant.allows(anyOf: route.operation.rights(isFiltered: query.filter != nil)) else {
            let needed = route.operation.rights(isFiltered: false)
            throw ServiceError(.forbidden, "\(needed.words) claim is required for this operation")
        }
        return HubCall(
            request: request, context: context, route: route, query: query, served: served, grant: grant,
            isForAllHubs: isForAllHubs != nil, options: options)
    }

    private func grant(_ request: Request, _ rules: [AccessRule]) throws(ServiceError) -> AccessGrant {
        let hosts = [request.head.authority].compactMap(\.self) + options.publicHosts
        let asked = SharedAccessRequest(hosts: hosts, path: request.uri.path, now: options.clock.now)
        switch verifier.verify(header: request.headers[.authorization], for: asked, rules: rules) {
        case .success(let grant): return grant
        case .failure(let fault): throw ServiceError(.unauthenticated, "SubCode=\(fault.subCode). \(fault.detail)")
        }
    }
}

extension HubOperation {
    /// The rights of which one is needed (Azure reference 1.5). A list of one handle's registrations is an app's own business.
    func rights(isFiltered: Bool) -> Set<AccessRight> {
        switch self {
        case .createRegistration, .createRegistrationID, .registration, .putRegistration, .deleteRegistration,
            .putInstallation, .installation, .patchInstallation, .deleteInstallation:
            [.listen, .manage]
        case .registrations: isFiltered ? [.listen, .manage] : [.manage]
        case .registrationsByTag, .feedbackContainer, .submitJob, .jobs, .job, .putHub, .hub, .deleteHub, .hubs: [.manage]
        case .send, .sendBatch, .schedule, .cancelSchedule: [.send]
        case .telemetry: [.send, .manage]
        }
    }

    /// Whether hubs come or go.
    var changesHubs: Bool { self == .putHub || self == .deleteHub }

    /// Whether only a key for all hubs will do.
    fileprivate var isOfAllHubs: Bool { changesHubs || self == .hubs }

    /// The path with its variable parts in braces: a label of the metrics.
    var template: String {
        switch self {
        case .createRegistration, .registrations: "/{hub}/registrations"
        case .createRegistrationID: "/{hub}/registrationids"
        case .registration, .putRegistration, .deleteRegistration: "/{hub}/registrations/{id}"
        case .registrationsByTag: "/{hub}/tags/{tag}/registrations"
        case .putInstallation, .installation, .patchInstallation, .deleteInstallation: "/{hub}/installations/{id}"
        case .send: "/{hub}/messages"
        case .sendBatch: "/{hub}/messages/$batch"
        case .telemetry: "/{hub}/messages/{id}"
        case .schedule: "/{hub}/schedulednotifications"
        case .cancelSchedule: "/{hub}/schedulednotifications/{id}"
        case .feedbackContainer: "/{hub}/feedbackcontainer"
        case .submitJob, .jobs: "/{hub}/jobs"
        case .job: "/{hub}/jobs/{id}"
        case .putHub, .hub, .deleteHub: "/{hub}"
        case .hubs: "/"
        }
    }
}
