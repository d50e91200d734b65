import APNsProtocol
import Testing

@testable import APNsEmulation

@Suite("Order of the checks")
struct RequestOrderTests {
    @Test("every check stands in an order, in none twice, and credentials come before anything they protect")
    func complete() throws {
        let orders = [RequestCheck.deviceOrder, RequestCheck.broadcastOrder, RequestCheck.managementOrder]
        #expect(Set(orders.joined().map(\.name)) == Set(RequestCheck.Name.allCases))
        for order in orders {
            let names = order.map(\.name)
            #expect(Set(names).count == names.count)
            let credentials = try #require(names.firstIndex(of: RequestCheck.lastOfCredentials))
            for protected in [RequestCheck.Name.tokenForm, .topicAllowed, .appCovered, .channelPresent, .bodyPresent] {
                if let position = names.firstIndex(of: protected) { #expect(position > credentials) }
            }
        }
    }

    @Test("the faults of a request are reported one at a time, in order")
    func oneAtATime() throws {
        var fixture = try EmulatorFixture()
        try fixture.apns.registerApp(bundleID: "com.example.second", teamID: fixture.signer.teamID)
        let (good, authorization) = (fixture.token, fixture.authorization)
        let unknown = String(repeating: "b", count: 64)
        let repairs: [(String, @Sendable (inout APNsRequest.Head, inout String) -> Void)] = [
            ("405 MethodNotAllowed", { head, _ in head.method = "POST" }),
            ("404 BadPath", { head, _ in head.path = "/3/device/" }),
            ("400 MissingDeviceToken", { head, _ in head.path = "/3/device/zz" }),
            ("403 MissingProviderToken", { head, _ in head.authorization = "bearer a.b.c" }),
            ("403 InvalidProviderToken", { head, _ in head.authorization = authorization }),
            ("400 DuplicateHeaders", { head, _ in head.hasDuplicates = false }),
            ("400 BadMessageId", { head, _ in head.apnsID = nil }),
            ("400 BadExpirationDate", { head, _ in head.expiration = nil }),
            ("400 BadPriority", { head, _ in head.priority = "10" }),
            ("400 BadCollapseId", { head, _ in head.collapseID = nil }),
            ("400 InvalidPushType", { head, _ in head.pushType = "background" }),
            ("400 MissingTopic", { head, _ in head.topic = "bad topic" }),
            ("400 BadTopic", { head, _ in head.topic = "com.example.unknown.voip" }),
            ("400 TopicDisallowed", { head, _ in head.topic = "com.example.second.voip" }),
            ("400 TopicDisallowed", { head, _ in head.topic = "com.example.second" }),
            ("400 BadPriority", { head, _ in head.priority = "5" }),
            ("400 PayloadEmpty", { _, body in body = String(repeating: "x", count: 5_000) }),
            ("413 PayloadTooLarge", { _, body in body = "{}" }),
            ("400 BadDeviceToken", { head, _ in head.path = "/3/device/" + unknown }),
            ("400 BadDeviceToken", { head, _ in head.path = "/3/device/" + good }),
            ("400 DeviceTokenNotForTopic", { head, _ in head.topic = EmulatorFixture.bundleID }),
        ]
        var head = APNsRequest.Head()
        (head.method, head.path, head.hasDuplicates) = ("PUT", "/", true)
        (head.apnsID, head.expiration, head.priority) = ("x", "x", "x")
        (head.collapseID, head.pushType) = (String(repeating: "x", count: 99), "x")
        var body = ""
        for (expected, repair) in repairs {
            let verdict = fixture.send(body: body) { $0 = head }
            #expect(EmulatorFixture.text(verdict) == expected)
            repair(&head, &body)
        }
        #expect(EmulatorFixture.text(fixture.send(body: body) { $0 = head }) == "200")
    }
}
