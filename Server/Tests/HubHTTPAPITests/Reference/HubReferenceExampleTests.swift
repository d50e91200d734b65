import Foundation
import RichPushModel
import Testing

@testable import HubProtocol

/// The documents in `Documentation/hub-openapi.yaml` against the readers and writers of the server.
@Suite("The documents in the description of the hub protocol")
struct HubReferenceExampleTests {
    /// The examples for one media type of one request or answer, as bytes.
    private func examples(_ operation: String, _ part: String, _ type: String) throws -> [[UInt8]] {
        let document = try HubReference.document()
        let found = try #require(HubReference.operations.first { $0.id == operation })
        let item = (document["paths"] as? [String: Any])?[found.path] as? [String: Any] ?? [:]
        let object = item[found.method.lowercased()] as? [String: Any] ?? [:]
        let answers = object["responses"] as? [String: Any] ?? [:]
        let place = HubReference.resolved(part == "request" ? object["requestBody"] : answers[part], in: document)
        let content = (place["content"] as? [String: Any])?[type] as? [String: Any] ?? [:]
        let named = (content["examples"] as? [String: [String: Any]] ?? [:]).values.compactMap { $0["value"] }
        let all = (content["example"].map { [$0] } ?? []) + named
        #expect(!all.isEmpty, "\(operation) \(part)")
        return try all.map { example in
            if let text = example as? String { return Array(text.utf8) }
            return Array(try JSONSerialization.data(withJSONObject: example))
        }
    }

    @Test("of installations and patches are read")
    func installations() throws {
        for part in ["putInstallation request", "installation 200"] {
            let words = part.split(separator: " ").map(String.init)
            for body in try examples(words[0], words[1], "application/json") {
                #expect(try InstallationDocument(parsing: body, pathID: "7d1f-22").platform == .apns)
            }
        }
        for body in try examples("patchInstallation", "request", "application/json-patch+json") {
            let patch = try InstallationPatch(parsing: body)
            let installation = InstallationDocument(installationID: "7d1f-22", platform: .apns, pushChannel: .handle("00FC"))
            #expect(try patch.applied(to: installation).tags == ["blue"])
        }
    }

    @Test("of registrations, jobs and hubs are read")
    func entries() throws {
        let atom = "application/atom+xml"
        for operation in ["createRegistration", "putRegistration"] {
            for body in try examples(operation, "request", atom) {
                #expect(try RegistrationDescription.read(entry: body).platform == .apple)
            }
        }
        for body in try examples("registration", "200", atom) {
            let registration = try RegistrationDescription.read(entry: body)
            #expect(registration.registrationID == "7481203-1183-2" && registration.expirationTime == nil)
        }
        for body in try examples("submitJob", "request", atom) + examples("job", "200", atom) {
            #expect(try HubJobDocument.read(entry: body).type == .exportRegistrations)
        }
        for body in try examples("putHub", "request", atom) {
            #expect(try HubDescription.read(entry: body).registrationLifetime == .after(.seconds(90 * 86_400)))
        }
    }

    @Test("of sends, outcomes and telemetry are read")
    func sends() throws {
        let type = "multipart/mixed; boundary=nh-batch-multipart-boundary"
        for body in try examples("sendBatch", "request", "multipart/mixed") {
            let batch = try BatchSendBody(contentType: type, body: body)
            #expect(batch.handles.count == 1)
        }
        for body in try examples("send", "201", "application/xml") {
            #expect(try NotificationOutcome.read(body).results.count == 1)
        }
        for body in try examples("telemetry", "200", "application/xml") {
            #expect(try NotificationDetails.read(body).state == .completed)
        }
    }

    @Test("of errors have the status of their answer")
    func errors() throws {
        for operation in HubReference.operations {
            for (status, types) in operation.answers where status >= 400 && types.contains("application/xml") {
                for body in try examples(operation.id, String(status), "application/xml") {
                    let error = try #require(ErrorBody.read(body))
                    #expect(error.code == status && error.trackingID != nil, "\(operation.id) \(status)")
                }
            }
        }
    }

    @Test("of installations have the members that the server writes")
    func members() throws {
        var installation = InstallationDocument(installationID: "i", platform: .apns, pushChannel: .handle("h"))
        let template = InstallationTemplate(
            name: "t", body: "{}", headers: [HeaderField("apns-priority", "5")], expiry: "e", tags: ["x"])
        (installation.userID, installation.pushChannelExpired, installation.expirationTime) = ("u", false, Timestamp(seconds: 1))
        (installation.tags, installation.pushVariables, installation.templates) = (["x"], ["v": "w"], [template])
        installation.secondaryTiles = [
            SecondaryTile(name: "s", pushChannel: "h", pushChannelExpired: true, tags: ["x"], templates: [template])
        ]
        let object = try #require(try JSONSerialization.jsonObject(with: Data(installation.json.utf8)) as? [String: Any])
        let document = try HubReference.document()
        func names(_ schema: String) -> Set<String> {
            Set((HubReference.value("components.schemas.\(schema).properties", in: document) as? [String: Any] ?? [:]).keys)
        }
        #expect(names("Installation") == Set(object.keys))
        let tile = (object["secondaryTiles"] as? [String: [String: Any]])?["s"]
        #expect(names("Installation.properties.secondaryTiles.additionalProperties") == Set((tile ?? [:]).keys))
        let written = (object["templates"] as? [String: [String: Any]])?["t"]
        #expect(names("Template") == Set((written ?? [:]).keys))
    }

    @Test("of registrations need the elements that their type needs", arguments: RegistrationPlatform.allCases)
    func elements(_ platform: RegistrationPlatform) throws {
        let document = try HubReference.document()
        let place = "components.schemas.RegistrationContent.patternProperties"
        let patterns = try #require(HubReference.value(place, in: document) as? [String: [String: Any]])
        let known = HubReference.value("components.schemas.Registration.properties", in: document) as? [String: Any] ?? [:]
        for isTemplate in [false, true] {
            let name = platform.elementName(isTemplate: isTemplate)
            var needed: Set<String> = []
            for (pattern, schema) in patterns {
                guard try Regex(pattern).firstMatch(in: name) != nil else { continue }
                needed.formUnion(schema["required"] as? [String] ?? [])
            }
            let details = [.baidu, .browser].contains(platform) ? platform.detailElements : []
            #expect(needed == Set([platform.handleElement] + details + (isTemplate ? ["BodyTemplate"] : [])), "\(name)")
            #expect(needed.union(platform.detailElements).isSubset(of: known.keys), "\(name)")
        }
    }
}
