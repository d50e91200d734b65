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
        let own = isForAllHubs == nil ? try? grant(request, served?.rules ?? []) : nil
        if isForAllHubs == nil, own == nil || route.operation.isOfAllHubs, route.operation.isOfHubs {
            if own != nil { throw Self.needsKeyOfAllHubs }
            if try await isSignedForAnotherHub(request) { throw Self.needsKeyOfAllHubs }
        }
        let grant = try isForAllHubs ?? own ?? grant(request, route.operation.isOfAllHubs ? common : served?.rules ?? [])
        let query = HubQuery(request.uri.query)
        guard grant.allows(anyOf: route.operation.rights(isFiltered: query.filter != nil)) else {
            let needed = route.operation.rights(isFiltered: false)
            throw ServiceError(.forbidden, "\(needed.words) claim is required for this operation")
        }
        return HubCall(
            request: request, context: context, route: route, query: query, served: served, grant: grant,
            isForAllHubs: isForAllHubs != nil, options: options)
    }

    private static let needsKeyOfAllHubs = ServiceError(.forbidden, "A key of all hubs is required for this operation")
    /// The most hubs whose keys are tried for a request that manages another hub or a new one.
    private static let hubsTried = 1_000

    /// Whether the token was signed with a key of some hub. The token names no hub, so the keys of all are tried, seldom enough that a
    /// flood of bad tokens costs little; beyond that rate, and beyond 1,000 hubs, the answer to such a key is that to a bad one.
    private func isSignedForAnotherHub(_ request: Request) async throws -> Bool {
        guard case .failure(.invalidSignature) = verification(request, []), (try? hubSearches.admit(true)) != nil else {
            return false
        }
        var (tried, last) = (0, HubName?.none)
        repeat {
            let page = try await directory.registry.hubs(after: last)
            for record in page {
                let rules = try await directory.catalog.hub(named: record.name.text)?.rules ?? []
                if case .success = verification(request, rules) { return true }
            }
            tried += page.count
            last = page.count == HubRegistry.maximumPage ? page.last?.name : nil
        } while last != nil && tried < Self.hubsTried
        return false
    }

    private func grant(_ request: Request, _ rules: [AccessRule]) throws(ServiceError) -> AccessGrant {
        switch verification(request, rules) {
        case .success(let grant): return grant
        case .failure(let fault): throw ServiceError(.unauthenticated, "SubCode=\(fault.subCode). \(fault.detail)")
        }
    }

    private func verification(_ request: Request, _ rules: [AccessRule]) -> Result<AccessGrant, SharedAccessFault> {
        let hosts = [request.head.authority].compactMap(\.self) + options.publicHosts
        let asked = SharedAccessRequest(hosts: hosts, path: request.uri.path, now: options.clock.now)
        return verifier.verify(header: request.headers[.authorization], for: asked, rules: rules)
    }
}

extension HubOperation {
    /// The rights of which one is needed (Reference/AzureNotificationHubs.md#1-5). A list of one handle's registrations is an
    /// app's own business.
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

    /// Whether it manages hubs; a hub's own key reads its own hub.
    fileprivate var isOfHubs: Bool { isOfAllHubs || self == .hub }

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
