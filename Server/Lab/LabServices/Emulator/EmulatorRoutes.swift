import APNsEmulation
import APNsProtocol
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// The administration of a local APNs over HTTP: apps and keys, devices and what they receive, faults, and what was asked.
struct EmulatorRoutes: Sendable {
    let apns: LocalAPNs
    /// Whether a client certificate with this serial number was issued from the folder, by another process.
    var isListed: @Sendable (String) -> Bool = { _ in false }

    /// `PUT /apps/{bundleID}`.
    struct App: AdministrationBody {
        static let fields: Set<String> = ["teamId", "broadcasts"]

        var teamId: String
        /// The broadcast capability; off when it is left out.
        var broadcasts: Bool?
    }

    /// `PUT /keys/{keyID}`.
    struct Key: AdministrationBody {
        static let fields: Set<String> = ["teamId", "publicKey", "environment", "topics", "relatedKeyId"]

        var teamId: String
        var publicKey: String
        /// `sandbox` or `production` for a key of one environment.
        var environment: String?
        /// The bundle ids of a topic-specific key.
        var topics: [String]?
        var relatedKeyId: String?
    }

    /// `POST /devices/{device}/tokens`: a token for an app; `rotate` retires the one before. A topic has a token for each name.
    struct TokenRequest: AdministrationBody {
        static let fields: Set<String> = ["topic", "name", "rotate"]

        var topic: String
        var name: String?
        var rotate: Bool?
    }

    struct TokenAnswer: Codable {
        var token: String
    }

    /// `POST /certificates`: a client certificate for an app, signed by the local authority.
    struct CertificateRequest: AdministrationBody {
        static let fields: Set<String> = ["bundleId", "environments", "furtherTopics", "validSeconds"]

        var bundleId: String
        /// `sandbox`, `production` or both, which is what it is when left out.
        var environments: [String]?
        var furtherTopics: [String]?
        /// For one that has ended, a negative number; a year when it is left out.
        var validSeconds: Int64?
    }

    struct CertificateAnswer: Codable {
        var certificate: String
        var privateKey: String
        var serialNumber: String
    }

    /// - Parameter path: the group that they stand in; `/production` for the second environment.
    func addRoutes(to router: some RouterMethods<ServiceRequestContext>, under path: RouterPath = "") {
        let router = router.group(path).add(middleware: CrossSiteGuard()).add(middleware: QueryGuard())
        router.put("/apps/{bundleID}") { request, context in
            let app = try await request.readStrictly(App.self)
            let bundleID = try name("bundleID", context)
            try checked {
                try apns.registerApp(bundleID: bundleID, teamID: app.teamId, broadcasts: app.broadcasts ?? false)
            }
            return Response(status: .noContent)
        }
        router.put("/keys/{keyID}") { request, context in
            let key = try await request.readStrictly(Key.self)
            let environment = try key.environment.map(parseEnvironment)
            try checked {
                try apns.registerKey(
                    teamID: key.teamId, keyID: try name("keyID", context), publicKeyPEM: key.publicKey,
                    environment: environment, topics: key.topics.map(Set.init), relatedKeyID: key.relatedKeyId)
            }
            return Response(status: .noContent)
        }
        router.post("/certificates") { request, _ in
            let wanted = try await request.readStrictly(CertificateRequest.self)
            return try Response.json(try issue(wanted), status: .created)
        }
        router.delete("/certificates/{serialNumber}") { _, context in
            let number = try name("serialNumber", context)
            guard apns.hasIssued(serialNumber: number) || isListed(number) else {
                throw ServiceError(.notFound, "serialNumber: no certificate with this serial number was issued here")
            }
            apns.revokeCertificate(serialNumber: number)
            return Response(status: .noContent)
        }
        addDeviceRoutes(to: router)
        addChannelRoutes(to: router)
        addFaultRoutes(to: router)
        addRecordRoutes(to: router)
    }

    private func issue(_ wanted: CertificateRequest) throws -> CertificateAnswer {
        let now = SystemClock().now
        var request = ClientCertificateRequest(bundleID: wanted.bundleId, furtherTopics: wanted.furtherTopics ?? [])
        if let names = wanted.environments {
            guard !names.isEmpty else {
                throw ServiceError(.invalidField, "field 'environments': expected sandbox, production or both")
            }
            request.environments = Set(try names.map(parseEnvironment))
        }
        request.notBefore = now - .seconds(2 * 86_400)
        request.notAfter = wanted.validSeconds.map { now + .seconds(min(max($0, -86_400), 10 * 366 * 86_400)) }
        let issued = try checked { try apns.issueClientCertificate(request) }
        return CertificateAnswer(
            certificate: issued.certificatePEM, privateKey: issued.privateKeyPEM, serialNumber: issued.serialNumber)
    }

    private func parseEnvironment(_ name: String) throws -> APNsEnvironment {
        guard let environment = APNsEnvironment(rawValue: name) else {
            throw ServiceError(.invalidField, "an environment is 'sandbox' or 'production'")
        }
        return environment
    }

    private func addDeviceRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.post("/devices/{device}/tokens") { request, context in
            let wanted = try await request.readStrictly(TokenRequest.self)
            let device = try name("device", context)
            guard apns.knowsApp(ofTopic: wanted.topic) else {
                throw ServiceError(
                    .invalidField, "field 'topic': no app of this bundle id is known; PUT /apps/{bundle id} makes one known")
            }
            let own = wanted.name ?? ""
            guard own.utf8.count <= 200 else { throw ServiceError(.invalidField, "field 'name': it has at most 200 bytes") }
            let token =
                wanted.rotate == true
                ? apns.rotateToken(device: device, topic: wanted.topic, name: own)
                : apns.issueToken(device: device, topic: wanted.topic, name: own)
            return try Response.json(TokenAnswer(token: token))
        }
        router.delete("/tokens/{token}") { request, context in
            let query = try QueryParameters(of: request, allowed: ["reason", "noticedAfterSeconds"])
            let reasons: [String: LocalAPNs.DeadTokenReason] = ["expired": .expired, "unregistered": .unregistered]
            guard let reason = reasons[query["reason"] ?? "unregistered"] else {
                throw ServiceError(.invalidField, "query parameter 'reason': expected unregistered or expired")
            }
            let delay = try query.number("noticedAfterSeconds", in: 0...1_000_000_000) ?? 0
            let token = try name("token", context, limit: 512)
            guard apns.invalidate(token: token, reason: reason, at: SystemClock().now, noticedAfter: .seconds(delay)) else {
                throw ServiceError(.notFound, "token: no device token like this was issued here")
            }
            return Response(status: .noContent)
        }
        router.get("/devices/{device}/pushes") { _, context in
            let pushes = apns.connect(device: try name("device", context))
            return Response(
                status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
                body: ResponseBody(asyncSequence: pushes.map { PushEvent($0).buffer }))
        }
    }

    func name(_ parameter: String, _ context: ServiceRequestContext, limit: Int = 200) throws -> String {
        let text = try context.parameters.require(parameter)
        guard (1...limit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ServiceError(.invalidField, "\(parameter) has 1 to \(limit) visible ASCII characters")
        }
        return text
    }

    func checked<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as LocalAPNsError { throw ServiceError(.invalidField, error.description) }
    }

    // MARK: The device side of broadcast channels. Providers manage them as they do at Apple, on the port of the management.

    /// `POST /devices/{device}/channels`: the device follows a channel.
    struct Subscription: AdministrationBody {
        static let fields: Set<String> = ["bundleId", "channelId"]

        var bundleId: String
        var channelId: String
    }

    func addChannelRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.post("/devices/{device}/channels") { request, context in
            let wanted = try await request.readStrictly(Subscription.self)
            let device = try name("device", context)
            try checked {
                try apns.subscribe(device: device, toChannel: wanted.channelId, bundleID: wanted.bundleId)
            }
            return Response(status: .noContent)
        }
        router.delete("/devices/{device}/channels") { request, context in
            let unwanted = try await request.readStrictly(Subscription.self)
            let device = try name("device", context)
            try checked {
                try apns.unsubscribe(device: device, fromChannel: unwanted.channelId, bundleID: unwanted.bundleId)
            }
            return Response(status: .noContent)
        }
    }
}

/// SETTINGS in the middle of a connection, as a fault or as an action.
struct SettingsDocument {
    var streams: Int?
    var initialWindowSize: Int?
    var maximumFrameSize: Int?

    /// What is announced. Throws `invalid-field`.
    func change() throws -> SettingsChange {
        guard streams != nil || initialWindowSize != nil || maximumFrameSize != nil else {
            throw ServiceError(.invalidField, "one of the fields 'streams', 'initialWindowSize' and 'maximumFrameSize' is needed")
        }
        return SettingsChange(
            streams: try streams.map { try FaultDocument.within($0, 0...1_000_000, "streams") },
            initialWindowSize: try initialWindowSize.map {
                try FaultDocument.within($0, SettingsChange.windowSizes, "initialWindowSize")
            },
            maximumFrameSize: try maximumFrameSize.map {
                try FaultDocument.within($0, SettingsChange.frameSizes, "maximumFrameSize")
            })
    }
}

/// The body of a request to the administration. A field that it does not have is refused: a typing error would test something else
/// than was meant, and pass.
protocol AdministrationBody: Decodable, Sendable {
    static var fields: Set<String> { get }
}

extension Request {
    /// Throws `unsupported-media-type`, `payload-too-large`, `malformed-json` and `invalid-field`.
    func readStrictly<Body: AdministrationBody>(_ type: Body.Type) async throws -> Body {
        try JSONFields.decode(type, from: await jsonBytes(), known: type.fields)
    }
}

/// Refuses a query where the administration takes none, since it would be silently ignored.
private struct QueryGuard: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceRequestContext, next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        // The one route with parameters reads them itself.
        if request.method != .delete { _ = try QueryParameters(of: request, allowed: []) }
        return try await next(request, context)
    }
}
