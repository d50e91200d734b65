import HTTPService
import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

/// The hub protocol over HTTP: every request is matched, its signature checked, its right looked up, and only then read.
public struct HubRoutes: Sendable {
    let directory: HubDirectory
    let options: HubHTTPOptions
    let sends: RequestThrottle<HubID>
    let writes: RequestThrottle<HubID>
    let verifier = SharedAccessVerifier()
    /// How often the keys of all hubs are tried for a token that fits none of the hub that it asks for.
    private let hubSearches: RequestThrottle<Bool>

    /// Creates the routes of all hubs of a directory.
    public init(directory: HubDirectory, options: HubHTTPOptions) {
        self.directory = directory
        self.options = options
        sends = RequestThrottle(perSecond: options.sendsPerSecond, clock: options.clock)
        writes = RequestThrottle(perSecond: options.writesPerSecond, clock: options.clock)
        hubSearches = RequestThrottle(perSecond: 5, clock: options.clock)
    }

    /// The request with what its token grants. Throws `unauthenticated`, `forbidden` and, only for a key of this server,
    /// `not-found` for a hub that does not exist.
    func admitted(_ request: Request, _ route: HubRoute, _ context: ServiceRequestContext) async throws -> HubCall {
        let served = route.hub.isEmpty ? nil : try await directory.hub(named: route.hub)
        let common = try await directory.catalog.commonRules()
        let isForAllHubs = try? grant(request, common)
        // Hubs as such are the business of keys for all hubs: the key of one hub shall not make or remove hubs.
        let own = isForAllHubs == nil ? try? grant(request, served?.rules ?? []) : nil
        if isForAllHubs == nil, own == nil || route.operation.isOfAllHubs, route.operation.isOfHubs {
            var signer = own.map { (rule: $0.rule, hub: route.hub) }
            if signer == nil { signer = try await signerOfAnotherHub(request) }
            if let signer {
                await noteRefusal(of: route, to: signer.rule, of: signer.hub, request, context)
                throw ServiceError(.forbidden, "A key of all hubs is required for this operation")
            }
        }
        let grant = try isForAllHubs ?? own ?? grant(request, route.operation.isOfAllHubs ? common : served?.rules ?? [])
        let query = HubQuery(request.uri.query)
        guard grant.allows(anyOf: route.operation.rights(isFiltered: query.filter != nil)) else {
            await noteRefusal(of: route, to: grant.rule, of: isForAllHubs == nil ? route.hub : nil, request, context)
            let needed = route.operation.rights(isFiltered: false)
            throw ServiceError(.forbidden, "\(needed.text) claim is required for this operation")
        }
        return HubCall(
            request: request, context: context, route: route, query: query, served: served, grant: grant,
            isForAllHubs: isForAllHubs != nil, options: options)
    }

    /// Of a refused request that manages hubs; of others an app can make any number by a mistake.
    private func noteRefusal(
        of route: HubRoute, to rule: String, of hub: String?, _ request: Request, _ context: ServiceRequestContext
    ) async {
        guard route.operation.isOfHubs else { return }
        let refusal = HubRefusal(rule: rule, keyHub: hub, operation: route.operation, hub: route.hub)
        await options.onRefusal(refusal, request, context)
    }

    /// The most hubs whose keys are tried for a request that manages another hub or a new one.
    private static let hubsTried = 1_000

    /// The rule of some hub with whose key the token was signed. The token names no hub, so the keys of all are tried, seldom enough that a
    /// flood of bad tokens costs little; beyond that rate, and beyond 1,000 hubs, the answer to such a key is that to a bad one.
    private func signerOfAnotherHub(_ request: Request) async throws -> (rule: String, hub: String)? {
        guard case .failure(.invalidSignature) = verification(request, []), (try? hubSearches.admit(true)) != nil else {
            return nil
        }
        var (tried, last) = (0, HubName?.none)
        repeat {
            let page = try await directory.registry.hubs(after: last)
            for record in page {
                let rules = try await directory.catalog.hub(named: record.name.text)?.rules ?? []
                if case .success(let grant) = verification(request, rules) { return (grant.rule, record.name.text) }
            }
            tried += page.count
            last = page.count == HubRegistry.maximumPage ? page.last?.name : nil
        } while last != nil && tried < Self.hubsTried
        return nil
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

extension HubRoutes: OwnRoutes {
    public var errorRenderer: any ErrorRenderer { HubErrorRenderer(clock: options.clock) }

    public func match(path: String, method: HTTPRequest.Method) -> OwnMatch? {
        if ContainerPath.matches(path) { return containerTemplate(path).map { OwnMatch(template: $0) } }
        let match = HubRoute.match(method: method.rawValue, path: path)
        switch match {
        // Requests that create or remove a hub with a reserved name get their error in the hub protocol.
        case .route(let route) where !isReserved(path) || route.operation.changesHubs:
            return OwnMatch(template: route.operation.template, route: match)
        case _ where isReserved(path): return nil
        case .route, .methodNotAllowed: return OwnMatch(template: "/{hub}", route: match)
        case .unknownPath: return OwnMatch(template: "/{hub}/*", route: match)
        }
    }

    /// A GET of a bare name without a signature and a protocol version is a mistyped address and not a hub request. It gets a 404,
    /// whether or not there is a hub of that name.
    public func takes(_ request: Request) -> Bool {
        let path = request.uri.path
        guard request.method == .get || request.method == .head, request.headers[.authorization] == nil, path != "/",
            request.uri.queryParameters["api-version"] == nil, !ContainerPath.matches(path)
        else { return true }
        guard case .route(let route) = HubRoute.match(method: "GET", path: path) else { return false }
        return !route.collectionSpelling.isEmpty
    }

    public func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        if ContainerPath.matches(request.uri.path) { return try await answerContainer(request, context) }
        if let page = options.startPage, Self.isStartPageRequest(request) { return page() }
        let route: HubRoute
        let match = context.ownRoute as? HubRoute.Match
        switch match ?? HubRoute.match(method: request.method.rawValue, path: request.uri.path) {
        case .route(let found): route = found
        case .methodNotAllowed: throw ServiceError(.methodNotAllowed)
        case .unknownPath: throw ServiceError(.unknownRoute)
        }
        let call = try await admitted(request, route, context)
        do {
            return try await answer(call)
        } catch let fault as HubRequestFault {
            throw ServiceError(fault.kind == .tooLarge ? .payloadTooLarge : .invalidField, fault.description)
        } catch let fault as HubDocumentError {
            throw ServiceError(fault.isTooLarge ? .payloadTooLarge : .invalidField, fault.description)
        }
    }

    public func complete(_ response: inout Response, for request: Request, context: ServiceRequestContext) {
        let given = request.headers[.trackingID].flatMap { HubCall.isTrackingID($0) ? $0 : nil }
        response.headers[.trackingID] = given ?? context.requestID
        response.headers[.correlationRequestID] = context.requestID
    }

    /// No client of the protocol comes without a signature and a version.
    private static func isStartPageRequest(_ request: Request) -> Bool {
        request.method == .get && request.uri.path == "/" && request.headers[.authorization] == nil
            && request.uri.queryParameters["api-version"] == nil
    }

    private func isReserved(_ path: String) -> Bool {
        guard let first = path.split(separator: "/", maxSplits: 1).first else { return false }
        return Self.reservedNames.contains(first.lowercased())
    }

    /// The names that no hub can have, in lower case; hidden files are asked for by programs that try every server.
    private static let reservedNames = Set(HubName.reserved).union([".well-known", ".git", ".env"])

    private func answer(_ call: HubCall) async throws -> Response {
        switch call.route.operation {
        case .createRegistration, .createRegistrationID, .registration, .putRegistration, .deleteRegistration:
            try await answerRegistration(call)
        case .registrations, .registrationsByTag:
            try await answerList(call)
        case .putInstallation, .installation, .patchInstallation, .deleteInstallation:
            try await answerInstallation(call)
        case .send, .sendBatch, .schedule, .cancelSchedule:
            try await answerSend(call)
        case .telemetry:
            try await answerTelemetry(call)
        case .feedbackContainer, .submitJob, .jobs, .job:
            try await answerFiles(call)
        case .putHub, .hub, .deleteHub, .hubs:
            try await answerManagement(call)
        }
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
