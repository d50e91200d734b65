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
    let hubSearches: RequestThrottle<Bool>

    /// Creates the routes of all hubs of a directory.
    public init(directory: HubDirectory, options: HubHTTPOptions) {
        self.directory = directory
        self.options = options
        sends = RequestThrottle(perSecond: options.sendsPerSecond, clock: options.clock)
        writes = RequestThrottle(perSecond: options.writesPerSecond, clock: options.clock)
        hubSearches = RequestThrottle(perSecond: 5, clock: options.clock)
    }
}

extension HubRoutes: OwnRoutes {
    public var errorRenderer: any ErrorRenderer { HubErrorRenderer(clock: options.clock) }

    public func match(path: String, method: HTTPRequest.Method) -> OwnMatch? {
        if ContainerPath.matches(path) { return containerTemplate(path).map { OwnMatch(template: $0) } }
        let match = HubRoute.match(method: method.rawValue, path: path)
        switch match {
        // Who would make or remove a hub with a name that is taken hears of it in the protocol that it speaks.
        case .route(let route) where !isReserved(path) || route.operation.changesHubs:
            return OwnMatch(template: route.operation.template, route: match)
        case _ where isReserved(path): return nil
        case .route, .methodNotAllowed: return OwnMatch(template: "/{hub}", route: match)
        case .unknownPath: return OwnMatch(template: "/{hub}/*", route: match)
        }
    }

    /// A browser or a person who mistypes an address names neither a signature nor a version of the protocol, and a hub is more than a
    /// word: to them there is nothing at such a path. Whether there is a hub of that name makes no difference.
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
        if let page = options.startPage, Self.isPersonAtRoot(request) { return page() }
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
    private static func isPersonAtRoot(_ request: Request) -> Bool {
        request.method == .get && request.uri.path == "/" && request.headers[.authorization] == nil
            && request.uri.queryParameters["api-version"] == nil
    }

    private func isReserved(_ path: String) -> Bool {
        guard let first = path.split(separator: "/", maxSplits: 1).first else { return false }
        return options.reservedNames.contains(first.lowercased())
    }

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
