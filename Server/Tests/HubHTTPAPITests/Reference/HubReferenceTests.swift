import HTTPService
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@testable import HubHTTPAPI
@testable import HubProtocol

/// `Documentation/hub-openapi.yaml` against the server, in both directions. What the other tests of this target are answered is
/// compared with it as well: `HubReference.expect`.
@Suite("The description of the hub protocol")
struct HubReferenceTests {
    private let operations = HubReference.operations

    private func path(_ operation: HubReference.Operation) -> String { "\(operation.method) \(operation.path)" }

    @Test("has every operation of the server")
    func complete() {
        #expect(Set(operations.compactMap(\.described)) == Set(HubOperation.allCases))
        #expect(Set(operations.map(\.path)).isSuperset(of: HubOperation.allCases.map(\.template)))
        #expect(operations.count == Set(operations.map(\.id)).count)
    }

    @Test("leads from each of its paths and methods to the operation that it names")
    func routes() {
        for operation in operations {
            guard case .route(let route) = HubRoute.match(method: operation.method, path: operation.sample) else {
                Issue.record("\(path(operation)) is no route")
                continue
            }
            #expect(route.operation == operation.described, "\(path(operation))")
            #expect(route.hub == (operation.path.hasPrefix("/{hub}") ? "demo" : ""), "\(path(operation))")
            #expect(route.id == (operation.sample.contains("7") ? "7" : nil), "\(path(operation))")
        }
    }

    @Test("has for each path the methods that the server allows, and no other")
    func methods() {
        for (sample, described) in Dictionary(grouping: operations, by: \.sample) {
            let match = HubRoute.match(method: "TRACE", path: sample)
            guard case .methodNotAllowed(let allowed) = match else {
                Issue.record("\(sample): \(match)")
                continue
            }
            #expect(Set(described.map(\.method)) == Set(allowed), "\(sample)")
        }
    }

    @Test("names for each operation the rights of which the server asks one")
    func rights() throws {
        for operation in operations {
            let rights = try #require(operation.described).rights(isFiltered: true)
            #expect(operation.rights == Set(rights.map(\.rawValue)), "\(path(operation))")
        }
    }

    @Test("has for each operation the statuses that it may be answered with, and no other")
    func statuses() throws {
        for operation in operations {
            let described = try #require(operation.described)
            #expect(Set(operation.answers.keys) == Self.statuses(of: described, at: operation.path), "\(path(operation))")
            #expect(operation.takesBody == operation.answers.keys.contains(413), "\(path(operation))")
        }
    }

    private static func statuses(of operation: HubOperation, at path: String) -> Set<Int> {
        var statuses: Set = [operation.successStatus, 400, 401, 403, 431, 500, 503]
        if path != "/" { statuses.insert(404) }
        let ofBodies: Set = [408, 413, 415]
        switch operation {
        case .createRegistration, .patchInstallation, .send, .sendBatch, .schedule: statuses.formUnion(ofBodies.union([429]))
        case .putRegistration: statuses.formUnion(ofBodies.union([409, 412, 429]))
        case .deleteRegistration: statuses.formUnion([412, 429])
        case .putInstallation: statuses.formUnion(ofBodies.union([409, 429]))
        case .deleteInstallation: statuses.insert(429)
        case .submitJob: statuses.formUnion(ofBodies)
        case .putHub: statuses.formUnion(ofBodies.union([HubOperation.createdHubStatus, 409]))
        case .deleteHub: statuses.insert(409)
        case .createRegistrationID, .registration, .registrations, .registrationsByTag, .installation, .cancelSchedule,
            .telemetry,
            .feedbackContainer, .jobs, .job, .hub, .hubs:
            break
        }
        return statuses
    }

    @Test("has a status for every error, and Retry-After where the error has it")
    func errors() throws {
        let document = try HubReference.document()
        var answers: [String: [[String: Any]]] = [:]
        for item in (document["paths"] as? [String: [String: Any]] ?? [:]).values {
            for method in HubReference.methods {
                let responses = (item[method] as? [String: Any])?["responses"] as? [String: Any] ?? [:]
                for (status, answer) in responses {
                    answers[status, default: []].append(HubReference.resolved(answer, in: document))
                }
            }
        }
        let renderer = HubErrorRenderer(clock: .system)
        // A method that a path does not have is said once for all; the others are of containers and of the app backend.
        let elsewhere: Set = [405, 410, 416]
        for code in ServiceErrorCode.allCases {
            let entry = ErrorTable.entry(for: code)
            let status = renderer.status(of: ServiceError(code), entry: entry).code
            let described = answers[String(status), default: []]
            #expect(!described.isEmpty || elsewhere.contains(status), "\(code)")
            guard entry.retryAfter != nil else { continue }
            #expect(described.allSatisfy { ($0["headers"] as? [String: Any])?["Retry-After"] != nil }, "\(code)")
        }
    }

    @Test("has the words of the protocol, all of them and no other")
    func words() throws {
        let document = try HubReference.document()
        func words(_ schema: String) -> Set<String> {
            Set(HubReference.value("components.schemas.\(schema).enum", in: document) as? [String] ?? [])
        }
        #expect(words("Platform") == Set(InstallationDocument.platforms.map(\.rawValue)))
        #expect(words("NotificationFormat") == Set(NotificationFormat.allCases.map(\.rawValue)))
        #expect(words("NotificationState") == Set(NotificationDetails.State.allCases.map(\.rawValue)))
        #expect(words("JobType") == Set(HubJobDocument.JobType.allCases.map(\.rawValue)))
        #expect(words("JobStatus") == Set(HubJobDocument.Status.allCases.map(\.rawValue)))
        #expect(words("AccessRight") == Set(AccessRight.allCases.map(\.rawValue)))
        let operators = HubReference.value("components.schemas.InstallationPatch.items.properties.op.enum", in: document)
        #expect(Set(operators as? [String] ?? []) == Set(InstallationPatch.Operator.allCases.map(\.rawValue)))
        let filter = HubReference.value("components.parameters.Filter.description", in: document) as? String ?? ""
        for property in RegistrationFilter.Property.allCases { #expect(filter.contains("`\(property.rawValue)`")) }
        let hub = HubReference.value("components.parameters.Hub.description", in: document) as? String ?? ""
        for name in HubName.reserved { #expect(hub.contains("`\(name)`")) }
        let counts =
            HubReference.value("components.schemas.NotificationDetails.properties", in: document) as? [String: Any] ?? [:]
        #expect(
            counts.keys.filter { $0.hasSuffix("OutcomeCounts") }.sorted()
                == OutcomeCounts.Service.allCases.map(\.rawValue).sorted())
    }

    @Test("has the headers that a send is read from")
    func headers() throws {
        let document = try HubReference.document()
        func names(_ path: String) -> Set<String> {
            let item = (document["paths"] as? [String: Any])?[path] as? [String: Any] ?? [:]
            let lists = [item["parameters"], (item["post"] as? [String: Any])?["parameters"]]
            let parameters = lists.flatMap { $0 as? [Any] ?? [] }.map { HubReference.resolved($0, in: document) }
            return Set(parameters.filter { $0["in"] as? String == "header" }.compactMap { $0["name"] as? String })
        }
        var apple = AppleSendHeaders(pushType: "alert", priority: 10)
        (apple.topic, apple.collapseID, apple.expiry, apple.id) = ("t", "c", .immediately, "i")
        let common =
            [NotificationFormat.headerName, SendHeaders.trackingIDName, SendHeaders.clientRequestIDName]
            + apple.fields.map(\.name)
        #expect(names("/{hub}/messages").isSuperset(of: common + [SendHeaders.tagsName, SendHeaders.deviceHandleName]))
        #expect(
            names("/{hub}/schedulednotifications").isSuperset(of: common + [SendHeaders.tagsName, SendHeaders.scheduleTimeName]))
        #expect(names("/{hub}/messages/$batch").isSuperset(of: common))
        #expect(!names("/{hub}/messages/$batch").contains(SendHeaders.tagsName))
        let page = "components.responses.Registrations.headers.\(ContinuationToken.headerName)"
        #expect(HubReference.value(page, in: document) != nil)
    }

    @Test("has the limits of the server")
    func limits() throws {
        let document = try HubReference.document()
        func number(_ place: String) -> Int? { HubReference.value("components.schemas.\(place)", in: document) as? Int }
        let limits = HubLimits()
        #expect(number("TagList.maxItems") == limits.tags)
        #expect(number("Templates.maxProperties") == limits.templates)
        #expect(number("Templates.propertyNames.maxLength") == limits.templateNameLength)
        #expect(number("Template.properties.body.maxLength") == limits.templateBytes)
        #expect(number("Template.properties.headers.maxProperties") == limits.templateHeaders)
        #expect(number("Installation.properties.secondaryTiles.maxProperties") == limits.secondaryTiles)
        #expect(number("Installation.properties.installationId.maxLength") == limits.identifierBytes)
        #expect(number("InstallationPatch.maxItems") == limits.patchOperations)
        #expect(number("RegistrationFeed.properties.entry.maxItems") == limits.pageSize)
        #expect(number("HubDescription.properties.AuthorizationRules.maxItems") == HubRegistry.maximumRuleCount)
        let batch = (document["paths"] as? [String: Any])?["/{hub}/messages/$batch"] as? [String: Any] ?? [:]
        let devices = HubReference.value("post.requestBody.content.multipart/mixed.schema.properties.devices.maxItems", in: batch)
        #expect(devices as? Int == limits.batchHandles)
    }
}
