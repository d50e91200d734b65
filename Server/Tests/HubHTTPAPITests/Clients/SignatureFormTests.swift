import RichPushModel
import Testing

/// Replayed from rules: the audience forms of Reference/AzureNotificationHubs.md#1-3.
@Suite("Signatures in each client's form")
struct SignatureFormTests {
    private func token(
        _ client: HubClient, _ target: String, key: String = HubUnderTest.fullKey,
        rule: String = "DefaultFullSharedAccessSignature",
        on hub: HubUnderTest
    ) throws -> String {
        try client.authorization(url: HubUnderTest.url(target), key: key, rule: rule, now: hub.clock.now.seconds)
    }

    @Test("each client's audience is admitted for what it signs, and for nothing else", arguments: HubClient.allCases)
    func audiences(_ client: HubClient) async throws {
        let hub = try await HubUnderTest(hubs: ["demo", "other"])
        let target = "/demo/registrations/?api-version=2020-06&$filter=DeviceToken+eq+'AB'"
        #expect(try await hub.call(client, ClientRequest("GET", target)).status == 200)
        let token = try self.token(client, target, on: hub)
        func call(_ target: String, host: String = HubUnderTest.authority) async throws -> Int {
            try await hub.call(ClientRequest("GET", target, [("Host", host), ("Authorization", token)])).status
        }
        #expect(try await call(target, host: "elsewhere.example.test") == 401)
        #expect(try await call(target, host: "push.example.test") == 200)
        #expect(try await call(target, host: "PUSH.example.test:1") == 200)
        // The same key stands at both hubs here, so only the path of the audience can distinguish them.
        let isForHost = [HubClient.javaScript, .go, .ruby].contains(client)
        #expect(try await call("/other/registrations") == (isForHost ? 200 : 401))
        hub.clock.advance(by: .seconds(3600 + 301))
        #expect(try await call(target) == 401)
    }

    @Test("a changed, a foreign or a missing signature is 401 with a code that .NET reads", arguments: HubClient.allCases)
    func refusals(_ client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let target = "/demo/registrations?api-version=2020-06"
        let good = try token(client, target, on: hub)
        let foreign = try token(client, target, key: "another-key", on: hub)
        let unknown = try token(client, target, rule: "NoSuchRule", on: hub)
        let changes = [
            good.replacing("se=1", with: "se=2"), foreign, unknown, good.replacing("sr=", with: "sr=x"), "", "Bearer x",
            "SharedAccessSignature ",
        ]
        for token in changes {
            let answer = try await hub.call(
                ClientRequest("GET", target, [("Host", HubUnderTest.authority), ("Authorization", token)]))
            #expect(answer.status == 401 && answer.body.contains("SubCode=401"), "\(answer.body)")
        }
        #expect(try await hub.call(ClientRequest("GET", target, [("Host", HubUnderTest.authority)])).status == 401)
    }
}
