import ConsolePage
import FCMEmulation
import HTTPService
import HTTPTypes
import Hummingbird
import ServiceErrors
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The administration of a local FCM at `/fcm` (Documentation/LocalFCM.md): its page, and the routes that page and tests use.
///
/// Every client of these routes controls the service, so they belong on a loopback listener; requests from pages of other sites are
/// refused. Nothing of it is recorded, and no fault strikes it.
public struct FCMAdministrationRoutes: Sendable {
    let fcm: LocalFCM
    let place: FCMSenderPlace
    private let page = FCMPageFiles()
    /// Identifies this process to the page, since the numbers of requests begin anew with each process.
    private let run = String(UInt64.random(in: .min ... .max), radix: 36)

    /// Creates the routes for `fcm`.
    ///
    /// - Parameter place: where senders find it, as the page shows.
    public init(fcm: LocalFCM, place: FCMSenderPlace) { (self.fcm, self.place) = (fcm, place) }

    /// Adds the routes.
    public func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        let group = router.group("fcm").add(middleware: CrossSiteGuard())
        page.addRoutes(to: group)
        group.get("state") { request, _ in
            let query = try QueryParameters(of: request, allowed: ["after", "name"])
            let after = try query.number("after", in: 0...Int.max) ?? 0
            return try Response.json(FCMOverviewDocument(fcm, place, run: run, after: after, name: query["name"] ?? ""))
        }
        addProjectRoutes(to: group)
        addDeviceRoutes(to: group)
        addFaultRoutes(to: group)
        addRecordRoutes(to: group)
    }

    // MARK: Projects

    private struct Project: Decodable {
        static let fields: Set<String> = ["number", "apiEnabled", "apnsKey", "webPushKey"]

        var number: String?
        var apiEnabled: Bool?
        var apnsKey: Bool?
        var webPushKey: Bool?
    }

    private struct ProjectAnswer: Encodable {
        var projectId: String
        var projectNumber: String
    }

    private struct Key: Decodable {
        static let fields: Set<String> = ["account", "maySend", "tokenUri"]

        var account: String?
        var maySend: Bool?
        var tokenUri: String?
    }

    private struct Action: Decodable {
        var action: String
        /// For `tap`.
        var messageId: String?
    }

    private func addProjectRoutes(to group: RouterGroup<ServiceRequestContext>) {
        group.put("projects/:project") { request, context in
            let id = try name("project", context)
            let wanted = try await request.readJSON(Project.self, known: Project.fields)
            let number = try checked { () throws(LocalFCMError) in
                let number = try fcm.addProject(id, number: wanted.number)
                try fcm.changeProject(id) { settings in
                    settings.isAPIEnabled = wanted.apiEnabled ?? settings.isAPIEnabled
                    settings.hasAPNsKey = wanted.apnsKey ?? settings.hasAPNsKey
                    settings.hasWebPushKey = wanted.webPushKey ?? settings.hasWebPushKey
                }
                return number
            }
            return try Response.json(ProjectAnswer(projectId: id, projectNumber: number))
        }
        group.post("projects/:project/keys") { request, context in
            let id = try name("project", context)
            let wanted = try await request.readJSON(Key.self, known: Key.fields)
            let file = try checked { () throws(LocalFCMError) in
                try fcm.makeKey(
                    project: id, account: wanted.account ?? LocalFCMSettings.standardAccount, maySend: wanted.maySend ?? true,
                    tokenURL: wanted.tokenUri)
            }
            return Response(
                status: .created, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(string: file)))
        }
        group.post("projects/:project/access-tokens") { request, context in
            let id = try name("project", context)
            switch try await request.readJSON(Action.self, known: ["action"]).action {
            case "revoke": fcm.revokeAccessTokens(of: id)
            case "expire": fcm.expireAccessTokens(of: id)
            default: throw ServiceError(.invalidField, "field 'action': expected revoke or expire")
            }
            return Response(status: .noContent)
        }
    }

    // MARK: Devices

    private struct Installation: Decodable {
        static let fields: Set<String> = ["project", "package", "platform"]

        var project: String
        var package: String
        var platform: DevicePlatform?
    }

    private func addDeviceRoutes(to group: RouterGroup<ServiceRequestContext>) {
        group.put("devices/:device") { request, context in
            let wanted = try await request.readJSON(Installation.self, known: Installation.fields)
            let name = try name("device", context)
            return try answer(
                try checked { () throws(LocalFCMError) in
                    try fcm.addDevice(
                        name, project: wanted.project, package: wanted.package, platform: wanted.platform ?? .android)
                })
        }
        group.get("devices/:device") { _, context in try answer(try device(context)) }
        group.post("devices/:device/actions") { request, context in
            let device = try device(context)
            let wanted = try await request.readJSON(Action.self, known: ["action", "messageId"])
            if wanted.action == "tap" {
                guard device.tap(wanted.messageId ?? "") else {
                    throw ServiceError(.notFound, "field 'messageId': the phone shows no such message")
                }
            } else if let action = AndroidAction(rawValue: wanted.action) {
                try checked { () throws(LocalFCMError) in try device.act(action) }
            } else {
                let known = (["tap"] + AndroidAction.allCases.map(\.rawValue)).joined(separator: ", ")
                throw ServiceError(.invalidField, "field 'action': expected one of \(known)")
            }
            return try answer(device)
        }
    }

    private func device(_ context: ServiceRequestContext) throws -> SimulatedAndroid {
        let name = try name("device", context)
        guard let device = fcm.device(name) else { throw ServiceError(.notFound, "there is no device of this name") }
        return device
    }

    private func answer(_ device: SimulatedAndroid) throws -> Response {
        guard let status = device.status else { throw ServiceError(.notFound, "there is no device of this name") }
        return try Response.json(FCMDeviceDocument(status, fcm.recorder.phones.filter { $0.device == device.name }))
    }

    /// A parameter of the path, which may have escapes: a device has a name of any characters but slashes.
    private func name(_ parameter: String, _ context: ServiceRequestContext) throws -> String {
        PercentEncoding.decodeLeniently(try context.parameters.require(parameter))
    }

    private func checked<Result>(_ body: () throws(LocalFCMError) -> Result) throws(ServiceError) -> Result {
        do {
            return try body()
        } catch {
            if case .unknown = error { throw ServiceError(.notFound, error.description) }
            throw ServiceError(.invalidField, error.description)
        }
    }

    // MARK: Faults, quotas and records

    private func addFaultRoutes(to group: RouterGroup<ServiceRequestContext>) {
        group.post("faults") { request, _ in
            try await request.readJSON(FCMFaultDocument.self, known: FCMFaultDocument.fields).inject(into: fcm)
            return Response(status: .noContent)
        }
        group.delete("faults") { _, _ in
            fcm.clearFaults()
            return Response(status: .noContent)
        }
        group.get("quotas") { _, _ in try Response.json(fcm.quotas) }
        group.patch("quotas") { request, _ in
            // The ones that are named change, and the others stay.
            let changes = try await request.readJSON([String: Int].self, known: FCMOverviewDocument.quotas)
            guard changes.values.allSatisfy({ $0 >= 0 }) else { throw ServiceError(.invalidField, "a quota is not negative") }
            let present = try JSONDecoder().decode([String: Int].self, from: JSONEncoder().encode(fcm.quotas))
            let changed = try JSONEncoder().encode(present.merging(changes) { $1 })
            fcm.quotas = try JSONDecoder().decode(LocalFCMQuotas.self, from: changed)
            return try Response.json(fcm.quotas)
        }
    }

    private struct Rule: Encodable {
        let rule: FCMRule
        let status: Int
        let canonicalStatus: String?
        let errorCode: String?
        let field: String?
        let message: String

        init(_ rule: FCMRule) {
            (self.rule, status, canonicalStatus) = (rule, rule.status, rule.canonicalStatus)
            (errorCode, field, message) = (rule.errorCode, rule.field, rule.text)
        }
    }

    private func addRecordRoutes(to group: RouterGroup<ServiceRequestContext>) {
        group.get("rules") { _, _ in try Response.json(FCMRule.allCases.map(Rule.init)) }
        group.get("requests") { _, _ in try Response.json(fcm.recorder.exchanges) }
        group.get("deliveries") { _, _ in try Response.json(fcm.recorder.deliveries) }
        group.delete("requests") { _, _ in
            fcm.clearRecorder()
            return Response(status: .noContent)
        }
    }
}
