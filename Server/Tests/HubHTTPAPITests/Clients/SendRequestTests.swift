import Testing

/// Replayed from rules: Reference/AzureNotificationHubs.md#2-7 to #2-10, each client in its own spelling.
@Suite("Sends as each client asks for them")
struct SendRequestTests {
    private static let token = RegistrationRequestTests.token
    private static let payload = #"{"aps":{"alert":"Hello"}}"#

    /// Sends, and returns the id that the client finds in the answer.
    @discardableResult
    private func send(
        _ client: HubClient, _ target: String, _ headers: [(name: String, value: String)], body: String = Self.payload,
        on hub: HubUnderTest
    ) async throws -> String {
        let answer = try await hub.call(client, ClientRequest("POST", target, headers, body: body))
        #expect(answer.status == 201 && answer.body.isEmpty, "\(client) \(target): \(answer.status) \(answer.body)")
        let id = try answer.id(as: client, asked: HubUnderTest.url(target))
        #expect(id.wholeMatch(of: #/[A-Za-z0-9-]+/#) != nil)
        return id
    }

    @Test("broadcasts, tags, native and template sends are queued with 201 and a Location", arguments: HubClient.sending)
    func sends(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        var ids: Set<String> = []
        for tags in [
            nil, "red", "red && !green", client.joined(["blue", "red"]), "$InstallationId:{7d1f-22}", "$UserId:{ann}",
            "(a||b)&&!c",
        ] {
            ids.insert(try await send(client, client.messages(), client.sendHeaders(format: "apple", tags: tags), on: hub))
        }
        let properties = #"{"message":"hello","n":3,"really":true}"#
        ids.insert(
            try await send(
                client, client.messages(), client.sendHeaders(format: "template", tags: "red"), body: properties, on: hub))
        #expect(ids.count == 8)
    }

    @Test("each accepted send is one line of the log with the key's rule, the hub and the audience, without content or handle")
    func logLines() async throws {
        let (hub, client) = (try await HubUnderTest(), HubClient.javaScript)
        let id = try await send(client, client.messages(), client.sendHeaders(format: "apple", tags: "red"), on: hub)
        try await send(client, client.messages(), client.sendHeaders(format: "apple", tags: nil), on: hub)
        try await send(client, client.messages(flag: "direct"), client.sendHeaders(format: "apple", handle: Self.token), on: hub)
        let lines = hub.notes.lines.filter { $0.message == "A send was accepted" }
        #expect(lines.map { $0.metadata["audience"] } == ["red", "everyone", "handles"])
        #expect(lines.map { $0.metadata["targets"] } == [nil, nil, "1"])
        #expect(lines.allSatisfy { $0.level == .info && $0.metadata["hub"] == "demo" && $0.metadata["rule"] != nil })
        #expect(lines.allSatisfy { $0.metadata["request_id"]?.count == 36 })
        #expect(lines.first?.metadata["notification_id"] == id)
        let text = lines.flatMap(\.metadata.values).joined(separator: " ").lowercased()
        #expect(!text.contains("hello"))
        #expect(!text.contains(Self.token.lowercased()))
    }

    @Test("a send to one handle needs no registration", arguments: HubClient.sending)
    func direct(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        try await send(client, client.messages(flag: "direct"), client.sendHeaders(format: "apple", handle: Self.token), on: hub)
    }

    @Test("a batch is read in every client's multipart", arguments: HubClient.batching)
    func batch(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let (type, body) = client.batchBody(Self.payload, [Self.token, String(repeating: "CD", count: 32)])
        let headers = client.sendHeaders(format: "apple", handle: "unused").filter {
            !$0.name.hasSuffix("DeviceHandle") && $0.name != "Content-Type"
        }
        try await send(client, client.batch, headers + [("Content-Type", type)], body: body, on: hub)
        let many = (0...1000).map { String(format: "%064X", $0) }
        let tooMany = client.batchBody(Self.payload, many)
        let refused = try await hub.call(
            client, ClientRequest("POST", client.batch, headers + [("Content-Type", tooMany.type)], body: tooMany.body))
        #expect(refused.status == 400, "\(refused.body)")
    }

    @Test("every spelling of a time is understood as UTC", arguments: HubClient.scheduling)
    func schedule(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let headers =
            client.sendHeaders(format: "apple", tags: "red") + [("ServiceBusNotification-ScheduleTime", client.scheduleTime)]
        let id = try await send(client, client.schedules, headers, on: hub)
        let telemetry = try await hub.call(.java, ClientRequest("GET", "/demo/messages/\(id)?api-version=2020-06"))
        #expect(telemetry.status == 200, "\(telemetry.body)")
        #expect(try TelemetryReading(telemetry).state == "Scheduled")
        guard HubClient.cancelling.contains(client) else { return }
        let target = "/demo/schedulednotifications/\(id)?api-version=\(client.version)"
        let cancelled = try await hub.call(client, ClientRequest("DELETE", target))
        #expect(cancelled.status == 200 && cancelled.body.isEmpty, "\(cancelled.body)")
        // The client's own retry of a cancel whose answer was lost is no failure.
        #expect(try await hub.call(client, ClientRequest("DELETE", target)).status == 200)
        #expect(try await hub.call(client, ClientRequest("GET", "/demo/messages/\(id)?api-version=2020-06")).status == 404)
        let unknown = target.replacing(id, with: String(id.reversed()))
        #expect(try await hub.call(client, ClientRequest("DELETE", unknown)).status == 404)
    }

    @Test("telemetry is read by every client that asks for it", arguments: HubClient.observing)
    func telemetry(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let id = try await send(
            client, client.messages(), client.sendHeaders(format: "apple", tags: "vip && !city:Oslo"), on: hub)
        let version = client == .go ? "2016-07" : client.version
        let answer = try await hub.call(client, ClientRequest("GET", "/demo/messages/\(id)?api-version=\(version)"))
        #expect(answer.status == 200, "\(answer.body)")
        let telemetry = try TelemetryReading(answer)
        #expect(telemetry.fields["NotificationId"] == id && telemetry.fields["Tags"] == "vip && !city:Oslo")
        #expect(telemetry.fields["NotificationBody"] == Self.payload && telemetry.fields["TargetPlatforms"] == "apple")
        let unknown = try await hub.call(
            client, ClientRequest("GET", "/demo/messages/\(String(id.reversed()))?api-version=\(version)"))
        #expect(unknown.status == 404)
    }

    @Test("a test send answers the outcome for each device", arguments: HubClient.testing)
    func testSend(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let entry = client.entry("AppleRegistrationDescription", tags: "red", [("DeviceToken", Self.token)])
        #expect(try await hub.call(.dotNet, ClientRequest("POST", HubClient.dotNet.registrations(), body: entry)).status == 200)
        let answer = try await hub.call(
            client,
            ClientRequest(
                "POST", client.messages(flag: "test"), client.sendHeaders(format: "apple", tags: "red"), body: Self.payload))
        #expect(answer.status == 201, "\(answer.body)")
        let outcome = try XMLTree.read(answer.body)
        #expect(outcome.name == "NotificationOutcome")
        #expect(!outcome.hasMixedText)
        #expect(outcome.children.map(\.name) == ["Success", "Failure", "Results"])
        #expect(outcome["Success"]?.text == "1" && outcome["Failure"]?.text == "0")
        let result = try #require(outcome["Results"]?.children.first)
        #expect(result.children.map(\.name) == ["ApplicationPlatform", "PnsHandle", "RegistrationId", "Outcome"])
        #expect(result["PnsHandle"]?.text == Self.token)
        #expect(hub.transport.sent.count == 1)
    }

    @Test(
        "each format is taken with the content types of its clients",
        arguments: [
            ("apple", "application/json", #"{"aps":{"alert":"x"}}"#, ""),
            ("gcm", "application/json;charset=utf-8", #"{"data":{"m":"x"}}"#, ""),
            ("fcmv1", "application/json", #"{"message":{"data":{"m":"x"}}}"#, ""),
            ("template", "application/json", #"{"m":"x"}"#, ""),
            ("windows", "application/xml", "<toast/>", "wns/toast"),
            ("windows", "application/octet-stream", "any bytes", "wns/raw"),
            ("windowsphone", "application/xml", "<toast/>", ""), ("adm", "application/json", #"{"data":{}}"#, ""),
            ("browser", "application/json", #"{"title":"x"}"#, ""),
            ("baidu", "application/x-www-form-urlencoded", #"{"title":"x"}"#, ""),
            ("xiaomi", "application/json", #"{"title":"x"}"#, ""), ("Apple", "application/json", #"{"aps":{"alert":"x"}}"#, ""),
        ])
    func formats(_ format: String, _ type: String, _ body: String, _ windowsType: String) async throws {
        let hub = try await HubUnderTest()
        var headers = [(name: "Content-Type", value: type), ("ServiceBusNotification-Format", format)]
        if !windowsType.isEmpty { headers.append(("X-WNS-Type", windowsType)) }
        try await send(.dotNet, HubClient.dotNet.messages(), headers, body: body, on: hub)
    }

    @Test("the rich push tutorial's payload passes with nothing but a format and a tag")
    func tutorial() async throws {
        let hub = try await HubUnderTest()
        let payload =
            #"{"aps": {"content-available": 1, "sound":""}, "richId": "7", "richMessage": "New picture", "richType": "img"}"#
        let headers = [(name: "ServiceBusNotification-Format", value: "apple"), ("ServiceBusNotification-Tags", "username:ann")]
        try await send(.dotNet, HubClient.dotNet.messages(), headers, body: payload, on: hub)
    }
}
