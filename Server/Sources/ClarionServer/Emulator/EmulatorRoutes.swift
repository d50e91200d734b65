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

    /// `PUT /apps/{bundleID}`.
    struct App: Codable {
        var teamId: String
    }

    /// `PUT /keys/{keyID}`.
    struct Key: Codable {
        var teamId: String
        var publicKey: String
    }

    /// `POST /devices/{device}/tokens`: a token for an app; `rotate` retires the one before.
    struct TokenRequest: Codable {
        var topic: String
        var rotate: Bool?
    }

    struct TokenAnswer: Codable {
        var token: String
    }

    /// `POST /faults`: the next `count` requests that pass every check get this status and reason.
    struct Fault: Codable {
        var status: Int
        var reason: String
        var count: Int?
    }

    func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        let router = router.group().add(middleware: CrossSiteGuard())
        router.put("/apps/{bundleID}") { request, context in
            let app = try await request.readJSON(App.self)
            try checked { try apns.registerApp(bundleID: try name("bundleID", context), teamID: app.teamId) }
            return Response(status: .noContent)
        }
        router.put("/keys/{keyID}") { request, context in
            let key = try await request.readJSON(Key.self)
            try checked {
                try apns.registerKey(teamID: key.teamId, keyID: try name("keyID", context), publicKeyPEM: key.publicKey)
            }
            return Response(status: .noContent)
        }
        addDeviceRoutes(to: router)
        router.post("/faults") { request, _ in
            let fault = try await request.readJSON(Fault.self)
            guard !fault.reason.isEmpty, (400...599).contains(fault.status), (1...1_000_000).contains(fault.count ?? 1) else {
                throw ServiceError(.invalidField, "status is 400 to 599, reason a word of APNs and count 1 to 1000000")
            }
            apns.inject(.status(fault.status, APNsReason(rawValue: fault.reason)), count: fault.count ?? 1)
            return Response(status: .noContent)
        }
        router.delete("/faults") { _, _ in
            apns.clearFaults()
            return Response(status: .noContent)
        }
    }

    private func addDeviceRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        router.post("/devices/{device}/tokens") { request, context in
            let wanted = try await request.readJSON(TokenRequest.self)
            let device = try name("device", context)
            guard !wanted.topic.isEmpty else { throw ServiceError(.invalidField, "field 'topic': expected a bundle id") }
            let token =
                wanted.rotate == true
                ? apns.rotateToken(device: device, topic: wanted.topic) : apns.issueToken(device: device, topic: wanted.topic)
            return try Response.json(TokenAnswer(token: token))
        }
        router.delete("/tokens/{token}") { _, context in
            apns.invalidate(token: try name("token", context), reason: .unregistered, at: SystemClock().now)
            return Response(status: .noContent)
        }
        router.get("/devices/{device}/pushes") { _, context in
            let pushes = apns.connect(device: try name("device", context))
            return Response(
                status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
                body: ResponseBody(asyncSequence: pushes.map { PushEvent($0).buffer }))
        }
    }

    private func name(_ parameter: String, _ context: ServiceRequestContext) throws -> String {
        let text = try context.parameters.require(parameter)
        guard (1...200).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ServiceError(.invalidField, "\(parameter) has 1 to 200 visible ASCII characters")
        }
        return text
    }

    private func checked(_ body: () throws -> Void) throws {
        do { try body() } catch let error as LocalAPNsError { throw ServiceError(.invalidField, error.description) }
    }
}
