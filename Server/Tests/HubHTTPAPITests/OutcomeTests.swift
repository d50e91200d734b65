import PushHub
import Testing

/// What becomes of sends, from the request to the telemetry (Reference/AzureNotificationHubs.md#2-9 and #6-1).
@Suite("Outcomes of sends in telemetry")
struct OutcomeTests {
    static let token = RegistrationRequestTests.token
    static let payload = #"{"aps":{"alert":"Hello"}}"#

    /// Sends, lets the dispatcher work and reads the telemetry.
    private func outcome(_ request: ClientRequest, on hub: HubUnderTest) async throws -> TelemetryReading {
        let answer = try await hub.call(.javaScript, request)
        #expect(answer.status == 201, "\(answer.body)")
        let id = try answer.id(as: .javaScript, asked: HubUnderTest.url(request.target))
        await hub.dispatch()
        let read = try await hub.call(.javaScript, ClientRequest("GET", "/demo/messages/\(id)?api-version=2020-06"))
        return try TelemetryReading(read)
    }

    private func batch(_ handles: [String]) -> ClientRequest {
        let client = HubClient.javaScript
        let (type, body) = client.batchBody(Self.payload, handles)
        let headers = client.sendHeaders(format: "apple").filter { $0.name != "Content-Type" }
        return ClientRequest("POST", client.batch, headers + [("Content-Type", type)], body: body)
    }

    @Test(
        "a batch goes to its good handles, and each bad one counts as one",
        arguments: [
            (["zzz"], 1), (["zzz", "", "zzz"], 2), (["dGhpcyBpcyBhbiBBbmRyb2lkIHRva2Vu:APA91", "ABC"], 2), (["AB\\u0000CD"], 1),
        ])
    func badHandles(_ bad: [String], _ count: Int) async throws {
        let hub = try await HubUnderTest()
        let other = String(repeating: "CD", count: 32)
        let mixed = try await outcome(batch([Self.token] + bad + [other]), on: hub)
        #expect(mixed.state == "Completed" && mixed.counts["ApnsOutcomeCounts"] == ["Success": 2, "WrongToken": count])
        #expect(hub.transport.sent.flatMap(\.targets).map(\.handle.text) == [Self.token, other])
        let alone = try await outcome(batch(bad), on: hub)
        #expect(alone.state == "Completed" && alone.counts["ApnsOutcomeCounts"] == ["WrongToken": count])
        #expect(hub.transport.sent.count == 1)
    }

    @Test("a direct send to what is no handle is one wrong token, also when it is tried out")
    func badHandle() async throws {
        let hub = try await HubUnderTest()
        let client = HubClient.javaScript
        func request(_ flag: String) -> ClientRequest {
            let headers = client.sendHeaders(format: "apple", handle: "not-a-token")
            return ClientRequest("POST", client.messages(flag: flag), headers, body: Self.payload)
        }
        let telemetry = try await outcome(request("direct"), on: hub)
        #expect(telemetry.state == "Completed" && telemetry.counts["ApnsOutcomeCounts"] == ["WrongToken": 1])
        let tried = try await hub.call(client, request("test"))
        #expect(tried.status == 201 && tried.body.contains("<Success>0</Success><Failure>1</Failure>"), "\(tried.body)")
        #expect(hub.transport.sent.isEmpty)
    }

    @Test(
        "a body that Apple does not carry is taken up to 64 KB, sent to no push service and reported in telemetry",
        arguments: [4097, 65_536])
    func tooLarge(_ bytes: Int) async throws {
        let hub = try await HubUnderTest()
        let body = #"{"aps":{"alert":"\#(String(repeating: "x", count: bytes - 20))"}}"#
        #expect(body.utf8.count == bytes)
        try await register(on: hub)
        let client = HubClient.javaScript
        let tagged = ClientRequest("POST", client.messages(), client.sendHeaders(format: "apple", tags: "red"), body: body)
        let telemetry = try await outcome(tagged, on: hub)
        #expect(telemetry.state == "Completed" && telemetry.counts["ApnsOutcomeCounts"] == ["InvalidNotificationSize": 1])
        var tried = tagged
        tried.target = client.messages(flag: "test")
        #expect(try await hub.call(client, tried).body.contains("larger than the Push Notification System takes"))
        #expect(hub.transport.sent.isEmpty)
    }

    @Test("a send without targets ends with one count that says so", arguments: ["apple", "template", "gcm"])
    func noTargets(format: String) async throws {
        let hub = try await HubUnderTest()
        try await register(on: hub)
        let client = HubClient.javaScript
        let headers = client.sendHeaders(format: format, tags: "nobody")
        let bodies = ["apple": Self.payload, "gcm": #"{"data":{"a":"b"}}"#, "template": #"{"a":"b"}"#]
        let body = try #require(bodies[format])
        let telemetry = try await outcome(ClientRequest("POST", client.messages(), headers, body: body), on: hub)
        #expect(telemetry.state == "Completed")
        #expect(telemetry.counts == [format == "gcm" ? "GcmOutcomeCounts" : "ApnsOutcomeCounts": ["NoTargets": 1]])
    }

    @Test("limits that an operator set hold, and the answer names them")
    func limits() async throws {
        let hub = try await HubUnderTest(
            settings: { $0.limits.tags = 2 },
            options: { options in
                options.limits.notificationBytes = 5000
                options.limits.batchHandles = 2
                options.limits.tags = 2
                options.limits.pageSize = 3
            })
        for number in 1...5 { try await register(on: hub, token: String(repeating: "A\(number)", count: 32)) }
        let list = try await hub.call(.java, ClientRequest("GET", HubClient.java.registrations()))
        #expect(try RegistrationReading.feed(list).count == 3 && list.headers["x-ms-continuationtoken"] != nil)
        let three = try await hub.call(.javaScript, batch(["AB", "CD", "EF"]))
        #expect(three.status == 400 && three.body.contains("a batch has 1 to 2 handles"), "\(three.body)")
        let client = HubClient.javaScript
        let large = ClientRequest(
            "POST", client.messages(), client.sendHeaders(format: "apple"),
            body: #"{"aps":{"alert":"\#(String(repeating: "x", count: 5000))"}}"#)
        #expect(try await hub.call(client, large).status == 413)
        let entry = client.entry("AppleRegistrationDescription", tags: "a,b,c", [("DeviceToken", Self.token)])
        let tags = try await hub.call(client, ClientRequest("POST", client.registrations(), body: entry))
        #expect(tags.status == 400 && tags.body.contains("at most 2 tags"), "\(tags.body)")
    }

    private func register(on hub: HubUnderTest, token: String = OutcomeTests.token) async throws {
        let client = HubClient.javaScript
        let entry = client.entry("AppleRegistrationDescription", tags: "red", [("DeviceToken", token)])
        #expect(try await hub.call(client, ClientRequest("POST", client.registrations(), body: entry)).status == 200)
    }
}
