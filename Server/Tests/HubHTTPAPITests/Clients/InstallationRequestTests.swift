import Foundation
import Testing

/// Replayed from rules: Reference/AzureNotificationHubs.md#2-6 and #5, each client in its own spelling.
@Suite("Installations as each client asks for them")
struct InstallationRequestTests {
    private struct Document: Decodable {
        struct Template: Decodable {
            var body: String
            var tags: [String]?
        }

        var installationId: String
        var platform: String
        var pushChannel: String
        var pushChannelExpired: Bool
        var expirationTime: String?
        var tags: [String]?
        var templates: [String: Template]?
    }

    private static let token = RegistrationRequestTests.token

    private func read(_ client: HubClient, _ id: String, on hub: HubUnderTest) async throws -> Document {
        let answer = try await hub.call(client, ClientRequest("GET", client.installation(id), client.installationHeaders))
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode(Document.self, from: Data(answer.body.utf8))
    }

    @Test(
        "an installation is put, with the key that stands in apps, and answered without a body", arguments: HubClient.installing)
    func put(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let document = client.installationDocument("7d1f-22", token: Self.token)
        for _ in 0..<2 {
            let answer = try await hub.call(
                client,
                ClientRequest("PUT", client.installation("7d1f-22", writing: true), client.installationHeaders, body: document),
                listens: true)
            #expect(answer.status == 200 && answer.body.isEmpty, "\(answer.body)")
        }
        let stored = try await read(.dotNet, "7d1f-22", on: hub)
        #expect(stored.installationId == "7d1f-22")
        #expect(!stored.pushChannelExpired)
        #expect(Set(stored.tags ?? []) == ["red", "go"])
        #expect(stored.platform == (client == .android ? "gcm" : "apns"))
        #expect(stored.pushChannel.uppercased() == Self.token)
        #expect(Set(stored.templates?["t1"]?.tags ?? []) == ["t1", "tt"] || stored.templates?["t1"]?.tags == ["tt"])
        if client == .apple || client == .android {
            let expiry = try #require(stored.expirationTime?.replacing(#/\.0+Z/#, with: "Z"))
            #expect(try Date(expiry, strategy: .iso8601) == Date(timeIntervalSince1970: 1_802_944_800))
        } else {
            #expect(stored.expirationTime == nil)
        }
    }

    @Test("an installation lives: put, read, patch, read, delete, delete again", arguments: HubClient.patching)
    func life(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let path = "i.1:@x"
        let document = client.installationDocument(path, token: Self.token)
        let put = try await hub.call(
            client, ClientRequest("PUT", client.installation(path, writing: true), client.installationHeaders, body: document))
        #expect(put.status == 200, "\(put.body)")
        let patch = ClientRequest("PATCH", client.installation(path), client.patchHeaders, body: client.patchDocument)
        let patched = try await hub.call(client, patch)
        #expect(patched.status == 200 && patched.body.isEmpty, "\(patched.body)")
        let stored = try await read(client, path, on: hub)
        #expect(Set(stored.tags ?? []) == ["go", "blue"])
        #expect(stored.templates?["t1"]?.body == ##"{"aps":{"badge":"#(n)"}}"##)
        #expect(stored.templates?["t2"]?.body == #"{"aps":{"alert":"$(m)"}}"#)
        for _ in 0..<2 {
            let deleted = try await hub.call(
                client, ClientRequest("DELETE", client.installation(path), client.installationHeaders))
            #expect(deleted.status == 204)
            #expect(deleted.body.isEmpty)
        }
        let gone = try await hub.call(client, ClientRequest("GET", client.installation(path), client.installationHeaders))
        #expect(gone.status == 404)
        #expect(gone.body.hasPrefix("<Error><Code>404</Code><Detail>Installation not found"))
        #expect(try await hub.call(client, patch).status == 404)
    }

    @Test(
        "platforms are accepted in every spelling and answered in lower case",
        arguments: [
            ("apns", "apns"), ("APNS", "apns"), ("wns", "wns"), ("mpns", "mpns"), ("gcm", "gcm"), ("adm", "adm"),
            ("baidu", "baidu"), ("fcmV1", "fcmv1"),
            ("FCMV1", "fcmv1"), ("xiaomi", "xiaomi"),
        ])
    func platforms(_ given: String, _ answered: String) async throws {
        let hub = try await HubUnderTest()
        let channel =
            answered == "apns"
            ? Self.token
            : answered == "baidu"
                ? "user-123" : answered == "wns" || answered == "mpns" ? "https://channel.example.test/?token=a%2fb" : "handle-1"
        let document = #"{"installationId":"p","platform":"\#(given)","pushChannel":"\#(channel)"}"#
        let put = try await hub.call(.dotNet, ClientRequest("PUT", HubClient.dotNet.installation("p"), [], body: document))
        #expect(put.status == 200, "\(put.body)")
        let stored = try await read(.dotNet, "p", on: hub)
        #expect(stored.platform == answered)
        #expect(stored.pushChannel == channel)
    }

    @Test("a Baidu installation stands in lists with its user id and its channel id, and is found by both")
    func baidu() async throws {
        let (hub, client) = (try await HubUnderTest(), HubClient.javaScript)
        let document = #"{"installationId":"b","platform":"baidu","pushChannel":"user-123-4"}"#
        #expect(try await hub.call(client, ClientRequest("PUT", client.installation("b"), [], body: document)).status == 200)
        #expect(try await read(client, "b", on: hub).pushChannel == "user-123-4")
        let filter = "BaiduChannelId%20eq%20123-4'%20and%20BaiduUserId%20eq%20'user'"
        for query in ["", "&%24filter=\(filter)"] {
            let list = try await hub.call(client, ClientRequest("GET", "/demo/registrations?api-version=2020-06\(query)"))
            #expect(
                list.body.contains("<BaiduUserId>user</BaiduUserId><BaiduChannelId>123-4</BaiduChannelId>"), "\(list.body)")
        }
    }

    @Test("a Baidu channel without both parts is refused", arguments: ["user123", "-1", "user-", "-"])
    func baiduParts(_ channel: String) async throws {
        let (hub, client) = (try await HubUnderTest(), HubClient.dotNet)
        let document = #"{"installationId":"b","platform":"baidu","pushChannel":"\#(channel)"}"#
        let answer = try await hub.call(client, ClientRequest("PUT", client.installation("b"), [], body: document))
        #expect(answer.status == 400 && answer.body.contains("a Baidu channel is"), "\(answer.body)")
    }

    @Test(
        "a registration without what its client needs to read it is refused, by name",
        arguments: [
            ("BaiduRegistrationDescription", [("BaiduUserId", "u")], "BaiduChannelId"),
            ("BrowserRegistrationDescription", [("Endpoint", "https://push.example.test/"), ("Auth", "a")], "P256DH"),
        ])
    func missingDetails(_ type: String, _ elements: [(String, String)], _ missing: String) async throws {
        let (hub, client) = (try await HubUnderTest(), HubClient.javaScript)
        let entry = client.entry(type, tags: nil, elements.map { (name: $0.0, value: $0.1) })
        let answer = try await hub.call(client, ClientRequest("POST", client.registrations(), body: entry))
        #expect(answer.status == 400 && answer.body.contains("\(missing) is missing"), "\(answer.body)")
    }

    @Test(
        "a document or a patch that breaks a rule is 400 with a place, and changes nothing",
        arguments: [
            ("PUT", #"{"installationId":"i","platform":"apns"}"#),
            ("PUT", #"{"installationId":"j","platform":"apns","pushChannel":"AB"}"#),
            ("PUT", #"{"installationId":"i","platform":"pager","pushChannel":"AB"}"#), ("PUT", "[]"), ("PUT", ""), ("PUT", "{"),
            ("PUT", #"{"installationId":"i","platform":"apns","pushChannel":"\#(token)","tags":["a b"]}"#),
            ("PUT", #"{"installationId":"i","platform":"apns","pushChannel":"\#(token)","tags":["$Other:{x}"]}"#),
            (
                "PUT",
                #"{"installationId":"i","platform":"apns","pushChannel":"\#(token)","templates":{"t":{"body":"{\"a\":\"$5 off\"}"}}}"#
            ),
            ("PATCH", #"[{"op":"add","path":"/templates","value":"{}"}]"#),
            ("PATCH", #"[{"op":"move","path":"/tags","value":"x"}]"#),
            ("PATCH", #"[{"op":"add","path":"/tags","value":"blue"},{"op":"add","path":"/nothing","value":"x"}]"#),
            ("PATCH", "{}"),
            ("PATCH", #"[{"op":"add","path":"/templates/t","value":"{\"body\":\"{\\\"a\\\":\\\"$5\\\"}\"}"}]"#),
        ])
    func mistakes(_ method: String, _ body: String) async throws {
        let hub = try await HubUnderTest()
        let client = HubClient.dotNet
        let document = client.installationDocument("i", token: Self.token)
        #expect(try await hub.call(client, ClientRequest("PUT", client.installation("i"), [], body: document)).status == 200)
        let answer = try await hub.call(client, ClientRequest(method, client.installation("i"), client.patchHeaders, body: body))
        #expect(answer.status == 400 && answer.body.hasPrefix("<Error><Code>400</Code><Detail>"), "\(answer.body)")
        #expect(Set(try await read(client, "i", on: hub).tags ?? []) == ["red", "go"])
    }

    @Test("a registration is no installation: putting one over it is 409, removing one leaves it", arguments: [true, false])
    func registrations(hasTemplate: Bool) async throws {
        let hub = try await HubUnderTest()
        let client = HubClient.dotNet
        let entry = client.entry(
            hasTemplate ? "AppleTemplateRegistrationDescription" : "AppleRegistrationDescription", tags: "plain",
            [("DeviceToken", Self.token)] + (hasTemplate ? [("BodyTemplate", "<![CDATA[{\"a\":\"$(b)\"}]]>")] : []))
        let target = client.registration("ww3")
        #expect(try await hub.call(client, ClientRequest("PUT", target, [client.entryType], body: entry)).status == 200)
        let document = client.installationDocument("ww3", token: Self.token)
        let put = try await hub.call(client, ClientRequest("PUT", client.installation("ww3"), [], body: document))
        #expect(put.status == 409 && put.body.contains("SubCode=40900"), "\(put.body)")
        let deleted = try await hub.call(client, ClientRequest("DELETE", client.installation("ww3")))
        #expect(deleted.status == 204)
        let read = try RegistrationReading.entry(try await hub.call(client, ClientRequest("GET", target)))
        #expect(read.etag == "1")
        #expect(read.tags == ["plain"])
    }

    /// How many devices a send reaches.
    private func reached(on hub: HubUnderTest) async throws -> Int {
        let client = HubClient.javaScript
        let before = hub.transport.sent.flatMap(\.targets).count
        let send = ClientRequest(
            "POST", client.messages(), client.sendHeaders(format: "apple"), body: #"{"aps":{"alert":"x"}}"#)
        #expect(try await hub.call(client, send).status == 201)
        await hub.dispatch()
        return hub.transport.sent.flatMap(\.targets).count - before
    }

    @Test(
        "a device whose token was bad is back when its channel is put or patched, be it the same, and by no other change",
        arguments: [
            ("PUT", nil, true), ("PATCH", #"[{"op":"replace","path":"/pushChannel","value":"\#(token)"}]"#, true),
            ("PATCH", #"[{"op":"add","path":"/tags","value":"more"}]"#, false),
        ])
    func inactiveToken(_ method: String, _ patch: String?, _ isBack: Bool) async throws {
        let hub = try await HubUnderTest()
        let client = HubClient.dotNet
        let target = client.installation("i")
        let document = client.installationDocument("i", token: Self.token)
        #expect(try await hub.call(client, ClientRequest("PUT", target, [], body: document)).status == 200)
        hub.transport.answer(.badToken)
        #expect(try await reached(on: hub) == 1)
        hub.transport.answer(.accepted)
        #expect(try await reached(on: hub) == 0)
        #expect(try await read(client, "i", on: hub).pushChannelExpired)
        #expect(try await hub.call(client, ClientRequest(method, target, [], body: patch ?? document)).status == 200)
        #expect(try await reached(on: hub) == (isBack ? 1 : 0))
        #expect(try await read(client, "i", on: hub).pushChannelExpired != isBack)
    }

    @Test("a phone whose clock is wrong is not refused: what has expired is kept until it is swept, and gets nothing")
    func expired() async throws {
        let hub = try await HubUnderTest()
        let client = HubClient.apple
        func put(_ time: String) async throws -> Int {
            let document = client.installationDocument("i", token: Self.token).replacing("2027-02-18T10:00+0000", with: time)
            return try await hub.call(client, ClientRequest("PUT", client.installation("i"), [], body: document), listens: true)
                .status
        }
        #expect(try await put("2001-02-18T10:00+0000") == 200)
        #expect(try await reached(on: hub) == 0)
        #expect(try await put("2027-02-18T10:00+0000") == 200)
        #expect(try await reached(on: hub) == 1)
    }
}
