import Foundation
import Testing

/// Replayed from rules: the tables of Reference/AzureNotificationHubs.md#2-1 to #2-5, each client in its own spelling, answers
/// judged by what breaks it.
@Suite("Registrations as each client asks for them")
struct RegistrationRequestTests {
    static let token = "0A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F9"
    static let template = ##"{"aps":{"alert":"$(text)","badge":"#(n)"}}"##

    private func create(
        _ client: HubClient, on hub: HubUnderTest, tags: String? = "city:Oslo,vip", token: String = Self.token
    ) async throws -> RegistrationReading {
        let body = client.entry("AppleRegistrationDescription", tags: tags, [("DeviceToken", token)])
        guard let ids = client.registrationIDs else {
            let answer = try await hub.call(client, ClientRequest("POST", client.registrations(), [client.entryType], body: body))
            #expect(answer.status == 200, "\(answer.body)")
            return try .entry(answer)
        }
        let reserved = try await hub.call(client, ClientRequest("POST", ids))
        #expect(reserved.status == 201)
        #expect(reserved.body.isEmpty)
        let id = try reserved.id(as: client, asked: HubUnderTest.url(ids))
        let answer = try await hub.call(client, ClientRequest("PUT", client.registration(id), [client.entryType], body: body))
        #expect(answer.status == 200, "\(answer.body)")
        let registration = try RegistrationReading.entry(answer)
        #expect(registration.id == id)
        return registration
    }

    @Test("a registration lives: id, upsert, read, update on a condition, delete", arguments: HubClient.registering)
    func life(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let created = try await create(client, on: hub)
        #expect(created.element == "AppleRegistrationDescription")
        #expect(created.etag == "1")
        #expect(created["DeviceToken"] == Self.token)
        #expect(created.tags == ["city:Oslo", "vip"])
        #expect(created["ExpirationTime"] == "9999-12-31T23:59:59.999Z")
        let read = try RegistrationReading.entry(
            try await hub.call(client, ClientRequest("GET", client.registration(created.id))))
        #expect(read.id == created.id)
        #expect(read.etag == "1")
        let etag = try await update(created, client, on: hub)
        for (index, condition) in client.deleteConditions(etag).enumerated() {
            let other = index == 0 ? created.id : try await create(client, on: hub).id
            let tag = index == 0 ? condition : condition.replacing(etag, with: "1")
            let deleted = try await hub.call(
                client, ClientRequest("DELETE", client.registration(other), [client.entryType, ("If-Match", tag)]))
            #expect(deleted.status == 200 && deleted.body.isEmpty, "\(condition): \(deleted.body)")
            let gone = try await hub.call(client, ClientRequest("GET", client.registration(other)))
            #expect(gone.status == 404)
            #expect(gone.body.hasPrefix("<Error><Code>404</Code><Detail>"))
        }
    }

    /// Updates the registration and returns its new version.
    private func update(_ created: RegistrationReading, _ client: HubClient, on hub: HubUnderTest) async throws -> String {
        let body = client.entry(
            "AppleRegistrationDescription", tags: "new", [("DeviceToken", Self.token)], id: created.id, etag: created.etag)
        var request = ClientRequest("PUT", client.registration(created.id), [client.entryType], body: body)
        if let condition = client.updateCondition(created.etag) { request = request.adding("If-Match", condition) }
        let updated = try RegistrationReading.entry(try await hub.call(client, request))
        #expect(updated.etag == "2")
        #expect(updated.tags == ["new"])
        if client.updateCondition("1") != nil { #expect(try await hub.call(client, request).status == 412) }
        return updated.etag
    }

    @Test("a template registration comes back as it went in", arguments: HubClient.registering)
    func templates(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let elements = [
            ("DeviceToken", Self.token.lowercased()), ("BodyTemplate", client.templateBody(Self.template)),
            ("Expiry", "$(until)"), ("TemplateName", "short"),
            ("Priority", "10"),
        ]
        let body = client.entry("AppleTemplateRegistrationDescription", tags: nil, elements)
        let answer = try await hub.call(client, ClientRequest("POST", client.registrations(), [client.entryType], body: body))
        #expect(answer.status == 200, "\(answer.body)")
        let registration = try RegistrationReading.entry(answer)
        #expect(registration.element == "AppleTemplateRegistrationDescription")
        #expect(registration["BodyTemplate"] == Self.template && registration["DeviceToken"] == Self.token)
        #expect(
            registration["Expiry"] == "$(until)" && registration["TemplateName"] == "short" && registration["Priority"] == "10")
    }

    @Test("each client finds the registrations of a token, whatever it calls the handle", arguments: HubClient.registering)
    func lists(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let mine = try await create(client, on: hub)
        _ = try await create(client, on: hub, tags: "vip", token: String(repeating: "CD", count: 32))
        let all = try await hub.call(client, ClientRequest("GET", client.registrations()))
        #expect(all.status == 200 && all.headers["x-ms-continuationtoken"] == nil)
        #expect(try RegistrationReading.feed(all).count == 2)
        guard let filter = client.filter(token: Self.token) else { return }
        let found = try await hub.call(client, ClientRequest("GET", client.registrations(filter)), listens: true)
        #expect(found.status == 200, "\(found.body)")
        let ids = try RegistrationReading.feed(found).map(\.id)
        #expect(ids == [mine.id])
        let none = try #require(client.filter(token: String(repeating: "EF", count: 32)))
        #expect(
            try RegistrationReading.feed(try await hub.call(client, ClientRequest("GET", client.registrations(none)))).isEmpty)
    }

    @Test("lists by tag ignore case and come in pages whose token needs no escaping")
    func pages() async throws {
        let hub = try await HubUnderTest()
        for index in 0..<5 {
            _ = try await create(.dotNet, on: hub, tags: index < 3 ? "City:Oslo" : "x", token: String(format: "%064X", index))
        }
        for tag in ["city:oslo", "City%3AOslo", "CITY:OSLO"] {
            let answer = try await hub.call(
                .javaScript, ClientRequest("GET", "/demo/tags/\(tag)/registrations?api-version=2020-06"))
            #expect(answer.status == 200)
            #expect(try RegistrationReading.feed(answer).count == 3)
        }
        var seen: Set<String> = []
        var token: String?
        repeat {
            let next = token.map { "&continuationtoken=\($0)" } ?? ""
            let answer = try await hub.call(.java, ClientRequest("GET", "/demo/registrations?api-version=2020-06&$top=2\(next)"))
            let page = try RegistrationReading.feed(answer)
            let fresh = page.filter { seen.insert($0.id).inserted }
            #expect(page.count <= 2)
            #expect(fresh.count == page.count)
            token = answer.headers["x-ms-continuationtoken"]
            #expect(token?.wholeMatch(of: #/[A-Za-z0-9_-]+/#) != nil || token == nil)
        } while token != nil
        #expect(seen.count == 5)
    }
}
