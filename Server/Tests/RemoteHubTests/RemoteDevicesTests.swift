import RichPushModel
import Testing

@testable import HubProtocol
@testable import RemoteHub

@Suite("Registrations and installations at a hub elsewhere")
struct RemoteDevicesTests {
    private func description(_ id: String) -> RegistrationDescription {
        RegistrationDescription(.apple, handle: "0A1B", registrationID: id, etag: "1", tags: ["vip"])
    }

    private struct NoSuchPath: Error {}

    private func location(_ path: String) throws -> LocationHeader {
        guard case .route(let route) = HubRoute.match(method: "GET", path: path) else { throw NoSuchPath() }
        return LocationHeader(authority: "push.example.test", fallback: "f", route: route, apiVersion: "2020-06")
    }

    private func entry(_ id: String) throws -> String {
        try RegistrationEntry(description(id), published: Timestamp(milliseconds: 0), updated: Timestamp(milliseconds: 0))
            .answer(at: location("/demo/registrations"))
    }

    private func feed(_ ids: [String]) throws -> String {
        try RegistrationEntry.feed(
            ids.map {
                RegistrationEntry(description($0), published: Timestamp(milliseconds: 0), updated: Timestamp(milliseconds: 0))
            },
            at: location("/demo/registrations"), updated: Timestamp(milliseconds: 0))
    }

    @Test("a registration is created, read, replaced under a condition and removed")
    func registrations() async throws {
        let remote = try ScriptedRemote(
            .status(200, [], entry("7-8-2")), .status(200, [], entry("7-8-2")), .status(200, [], entry("7-8-2")), .status(200),
            .status(404), .status(404))
        let new = RegistrationDescription(.apple, handle: "0A1B", tags: ["vip"])
        #expect(try await remote.hub.createRegistration(new).registrationID == "7-8-2")
        #expect(try await remote.hub.registration("7-8-2") == description("7-8-2"))
        try await remote.hub.putRegistration(new, id: "7-8-2", if: .etag("1"))
        #expect(try await remote.hub.deleteRegistration("7-8-2"))
        #expect(try await remote.hub.deleteRegistration("7-8-2", if: .etag("2")) == false)
        #expect(try await remote.hub.registration("7-8-2") == nil)
        let asked = remote.transport.asked
        #expect(asked.map(\.method) == ["POST", "GET", "PUT", "DELETE", "DELETE", "GET"])
        #expect(asked[0].url == "https://push.example.test:8443/demo/registrations?api-version=2020-06")
        #expect(asked[0].headers["Content-Type"] == "application/atom+xml;type=entry;charset=utf-8")
        #expect(try RegistrationDescription.read(entry: asked[0].body) == new)
        #expect(asked[2].url == "https://push.example.test:8443/demo/registrations/7-8-2?api-version=2020-06")
        #expect(asked.map { $0.headers["If-Match"] } == [nil, nil, "\"1\"", "*", "\"2\"", nil])
    }

    @Test("a registration id comes from Location, and a removed one has its own error")
    func registrationID() async throws {
        let remote = try ScriptedRemote(
            .status(201, [HeaderField("location", "https://push.example.test/demo/registrationIDs/7-8-2?api-version=2020-06")]),
            .status(410), .status(201))
        #expect(try await remote.hub.createRegistrationID() == "7-8-2")
        #expect(try await remote.failure { _ = try await $0.putRegistration(description("x"), id: "7-8-2") }.status == 410)
        #expect(try await remote.failure { _ = try await $0.createRegistrationID() }.reason == .unexpectedAnswer)
    }

    @Test("a list is read page by page with the hub's own tokens, an empty page included")
    func lists() async throws {
        let token = ContinuationToken.headerName.lowercased()
        let remote = try ScriptedRemote(
            .status(200, [HeaderField(token, "MzE7Mg%3d")], feed(["1", "2"])), .status(200, [HeaderField(token, "b")], feed([])),
            .status(200, [], feed(["3"])))
        var ids: [String] = []
        for try await found in remote.hub.registrations(pageSize: 2) { ids.append(found.registrationID ?? "") }
        #expect(ids == ["1", "2", "3"])
        #expect(
            remote.transport.asked.map(\.url) == [
                "https://push.example.test:8443/demo/registrations?api-version=2020-06&%24top=2",
                "https://push.example.test:8443/demo/registrations?api-version=2020-06&%24top=2&continuationtoken=MzE7Mg%253d",
                "https://push.example.test:8443/demo/registrations?api-version=2020-06&%24top=2&continuationtoken=b",
            ])
    }

    @Test("a list that never ends is ended")
    func endless() async throws {
        let page = ScriptedTransport.Line.status(200, [HeaderField("X-MS-ContinuationToken", "a")], try feed(["1"]))
        let remote = try ScriptedRemote(page, page, page)
        await #expect(throws: RemoteHubError.self) { for try await _ in remote.hub.registrations() {} }
        #expect(remote.transport.asked.count == 2)
    }

    @Test("lists by tag and by handle ask as documented")
    func filteredLists() async throws {
        let remote = try ScriptedRemote(.status(200, [], feed([])), .status(200, [], feed([])), .status(404))
        for try await _ in remote.hub.registrations(withTag: "city:Oslo") {}
        for try await _ in remote.hub.registrations(withHandle: "0a1b") {}
        for try await _ in remote.hub.registrations(withHandle: "https://e/", on: .browser) {}
        let urls = remote.transport.asked.map(\.url)
        try #require(urls.count == 3)
        #expect(urls[0] == "https://push.example.test:8443/demo/tags/city%3AOslo/registrations?api-version=2020-06&%24top=100")
        let query = HubQuery(urls[1].split(separator: "?").last.map(String.init))
        #expect(query["$filter"] == "DeviceToken eq '0A1B'")
        #expect(try ListQuery(query).filter?.handle == .init(.deviceToken, "0A1B"))
        #expect(HubQuery(urls[2].split(separator: "?").last.map(String.init))["$filter"] == "Endpoint eq 'https://e/'")
    }

    @Test("an installation is put, read, patched and removed")
    func installations() async throws {
        let installation = InstallationDocument(
            installationID: "7d1f-22", userID: "ann", platform: .apns, pushChannel: .handle("0A1B"), tags: ["vip"],
            templates: [InstallationTemplate(name: "short", body: "{}")])
        let remote = try ScriptedRemote(
            .status(200), .status(200, [], installation.json), .status(404), .status(200), .status(204), .status(404))
        try await remote.hub.putInstallation(installation)
        #expect(try await remote.hub.installation("7d1f-22") == installation)
        #expect(try await remote.hub.installation("7d1f-22") == nil)
        try await remote.hub.patchInstallation("7d1f-22", InstallationPatch([.init(.add, "/tags", "blue")]))
        try await remote.hub.deleteInstallation("7d1f-22")
        try await remote.hub.deleteInstallation("7d1f-22")
        let asked = remote.transport.asked
        #expect(asked.map(\.method) == ["PUT", "GET", "GET", "PATCH", "DELETE", "DELETE"])
        #expect(Set(asked.map(\.url)) == ["https://push.example.test:8443/demo/installations/7d1f-22?api-version=2020-06"])
        #expect(
            String(decoding: asked[0].body, as: UTF8.self)
                == #"{"installationId":"7d1f-22","userId":"ann","pushChannel":"0A1B","platform":"apns","tags":["vip"],"templates":{"short":{"body":"{}","tags":["short"]}}}"#
        )
        #expect(String(decoding: asked[3].body, as: UTF8.self) == #"[{"op":"add","path":"/tags","value":"blue"}]"#)
        #expect(asked[3].headers["Content-Type"] == "application/json-patch+json; charset=utf-8")
    }

    @Test("a patch of an installation that is not there is an error of status 404")
    func missing() async throws {
        let remote = try ScriptedRemote(
            .status(404, [], "<Error><Code>404</Code><Detail>Installation not found</Detail></Error>"))
        let error = try await remote.failure { try await $0.patchInstallation("x", InstallationPatch([])) }
        #expect(error.status == 404)
        #expect(error.detail == "Installation not found")
    }
}
