import PushHub
import Testing

/// Test sends, and how a retry is recognised (Reference/AzureNotificationHubs.md#2-10 and #0-17).
@Suite("Retried test sends")
struct TestSendTests {
    private static let token = RegistrationRequestTests.token
    private let client = HubClient.javaScript

    private func request(_ id: String?, handle: String? = nil, text: String = "Hello") -> ClientRequest {
        let headers = client.sendHeaders(format: "apple", tags: handle == nil ? "red" : nil, handle: handle)
        let request = ClientRequest("POST", client.messages(flag: "test"), headers, body: #"{"aps":{"alert":"\#(text)"}}"#)
        return id.map { request.adding("x-ms-client-request-id", $0) } ?? request
    }

    private func register(on hub: HubUnderTest) async throws -> String {
        let entry = client.entry("AppleRegistrationDescription", tags: "red", [("DeviceToken", Self.token)])
        return try RegistrationReading.entry(
            try await hub.call(client, ClientRequest("POST", client.registrations(), body: entry))
        ).id
    }

    @Test("the same call is one send with one answer, to a tag and to a handle", arguments: [nil, token])
    func once(handle: String?) async throws {
        let hub = try await HubUnderTest()
        let id = try await register(on: hub)
        let first = try await hub.call(client, request("r-1", handle: handle))
        #expect(first.status == 201 && first.body.contains("<Success>1</Success><Failure>0</Failure>"), "\(first.body)")
        #expect(first.body.contains(id) == (handle == nil))
        #expect(first.body.contains(Self.token))
        for _ in 0..<2 {
            let again = try await hub.call(client, request("r-1", handle: handle))
            #expect(again.status == 201)
            #expect(again.body == first.body)
            #expect(try again.location() == first.location())
        }
        #expect(hub.transport.sent.count == 1)
    }

    @Test(
        "the Location of a test send leads to it, retried or not, to a tag and to a handle", arguments: [nil, token],
        ["r-1", nil])
    func readable(handle: String?, name: String?) async throws {
        let hub = try await HubUnderTest()
        _ = try await register(on: hub)
        let answer = try await hub.call(client, request(name, handle: handle))
        let id = try answer.id(as: client, asked: client.messages())
        let details = try await hub.call(client, ClientRequest("GET", "/demo/messages/\(id)?api-version=2020-06"))
        #expect(details.status == 200, "\(details.body)")
        for words in [
            "<State>Completed</State>", "<NotificationId>\(id)</NotificationId>", "<TargetPlatforms>apple</TargetPlatforms>",
            "<ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>1</Count></Outcome></ApnsOutcomeCounts>", "<EndTime>",
        ] { #expect(details.body.contains(words), "\(words): \(details.body)") }
        #expect(details.body.contains("<Tags>red</Tags>") == (handle == nil))
        await hub.dispatch()
        #expect(hub.transport.sent.count == 1, "what was noted is not sent again")
    }

    @Test(
        "a test send says of each device in one sentence what became of the try",
        arguments: [
            (
                PushOutcome.rejected(reason: "BadTopic"),
                "The Push Notification System refused the notification (BadTopic)"
            ),
            (
                .retry(after: .seconds(60), reason: "TooManyRequests"),
                "The Push Notification System refused the notification for now (TooManyRequests)"
            ),
            (
                .notSent(reason: "name-not-resolved"),
                "The notification was not sent: the Push Notification System could not be used (name-not-resolved)"
            ),
            (
                .unavailable(reason: "ServiceUnavailable"),
                "The Push Notification System answered that it cannot serve now, and did not take the notification (ServiceUnavailable)"
            ),
            (
                .misconfigured(reason: "InvalidProviderToken"),
                "The notification was not sent: the credential or the configuration of this server is refused (InvalidProviderToken)"
            ),
            (
                .unknown(reason: "deadline"),
                "The Push Notification System did not answer in time; whether it took the notification is not known (deadline)"
            ),
            (
                .unknown(reason: "stream-reset"),
                "The connection ended before the answer; whether the Push Notification System took it is not known (stream-reset)"
            ),
            (.tooLarge, "The notification is larger than the Push Notification System takes"),
        ])
    func sentences(outcome: PushOutcome, sentence: String) async throws {
        let hub = try await HubUnderTest()
        _ = try await register(on: hub)
        hub.transport.answer(outcome)
        // A retry gets the same answer from storage.
        for _ in 0..<2 {
            let answer = try await hub.call(client, request("r-1"))
            #expect(answer.status == 201 && answer.body.contains("<Outcome>\(sentence)</Outcome>"), "\(answer.body)")
        }
        #expect(hub.transport.sent.count == 1)
    }

    @Test("another name, another content, no name at all, or the send itself are others")
    func others() async throws {
        let hub = try await HubUnderTest()
        _ = try await register(on: hub)
        for (count, request) in [request("r-1"), request("r-2"), request("r-1", text: "Other"), request(nil), request(nil)]
            .enumerated()
        {
            #expect(try await hub.call(client, request).status == 201)
            #expect(hub.transport.sent.count == count + 1)
        }
        var real = request("r-1")
        real.target = client.messages()
        #expect(try await hub.call(client, real).status == 201)
        await hub.dispatch()
        #expect(hub.transport.sent.count == 6)
    }
}
