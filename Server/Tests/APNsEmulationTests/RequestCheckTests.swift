import RichPushModel
import Testing

@testable import APNsEmulation

/// One change to a good request, and what APNs says to it.
struct RefusalCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: String
    var body = #"{"aps":{"alert":"hi"}}"#
    let change: @Sendable (inout APNsRequest.Head) -> Void

    init(
        _ name: String, _ expected: String, body: String = #"{"aps":{"alert":"hi"}}"#,
        _ change: @escaping @Sendable (inout APNsRequest.Head) -> Void = { _ in }
    ) {
        testDescription = name
        self.expected = expected
        self.body = body
        self.change = change
    }
}

@Suite("Checks of a device push")
struct RequestCheckTests {
    static let cases: [RefusalCase] = [
        .init("a good push", "200"),
        .init("GET", "405 MethodNotAllowed") { $0.method = "GET" },
        .init("HEAD on the root", "405 MethodNotAllowed") {
            $0.method = "HEAD"; $0.path = "/"
        },
        .init("another path", "404 BadPath") { $0.path = "/3/devices/x" },
        .init("a broadcast without channel", "400 MissingChannelId") { $0.path = "/4/broadcasts/apps/com.example.rich" },
        .init("a path behind the token", "404 BadPath") { $0.path += "/x" },
        .init("no device token", "400 MissingDeviceToken") { $0.path = "/3/device/" },
        .init("no authorization", "403 MissingProviderToken") { $0.authorization = nil },
        .init("another scheme", "403 MissingProviderToken") { $0.authorization = "Basic YTpi" },
        .init("bearer without token", "403 MissingProviderToken") { $0.authorization = "bearer  " },
        .init("Bearer in capitals", "200") { $0.authorization = $0.authorization?.replacing("bearer", with: "BEARER") },
        .init("garbage for a token", "403 InvalidProviderToken") { $0.authorization = "bearer abc" },
        .init("a damaged signature", "403 InvalidProviderToken") { $0.authorization?.removeLast(4) },
        .init("a header twice", "400 DuplicateHeaders") { head in
            head.add(name: "apns-topic", value: "com.example.rich")
        },
        .init("an unknown apns header twice", "400 DuplicateHeaders") { head in
            head.add(name: "apns-new", value: "1")
            head.add(name: "apns-new", value: "1")
        },
        .init("an id that is no UUID", "400 BadMessageId") { $0.apnsID = "1234" },
        .init("an id without dashes", "400 BadMessageId") { $0.apnsID = String(repeating: "a", count: 36) },
        .init("an id in capitals", "200") { $0.apnsID = "EC5A59D7-2E32-F33D-0000-00000000000A" },
        .init("expiration in words", "400 BadExpirationDate") { $0.expiration = "tomorrow" },
        .init("negative expiration", "400 BadExpirationDate") { $0.expiration = "-1" },
        .init("expiration with sign", "400 BadExpirationDate") { $0.expiration = "+1" },
        .init("expiration beyond 64 bits", "400 BadExpirationDate") { $0.expiration = "99999999999999999999" },
        .init("expiration beyond 32 bits", "200") { $0.expiration = "4294967296" },
        .init("expiration 0", "200") { $0.expiration = "0" },
        .init("priority 7", "400 BadPriority") { $0.priority = "7" },
        .init("priority 1", "200") { $0.priority = "1" },
        .init("empty priority", "400 BadPriority") { $0.priority = "" },
        .init("collapse id of 65 bytes", "400 BadCollapseId") { $0.collapseID = String(repeating: "x", count: 65) },
        .init("collapse id of 64 bytes", "200") { $0.collapseID = String(repeating: "ü", count: 32) },
        .init("collapse id of 33 two-byte letters", "400 BadCollapseId") { $0.collapseID = String(repeating: "ü", count: 33) },
        .init("an unknown push type", "400 InvalidPushType") { $0.pushType = "Alert" },
        .init("no push type", "200") { $0.pushType = nil },
        .init("no topic", "400 MissingTopic") { $0.topic = nil },
        .init("empty topic", "400 MissingTopic") { $0.topic = "" },
        .init("a topic with a space", "400 BadTopic") { $0.topic = "com example" },
        .init("an app that is not registered", "400 TopicDisallowed") { $0.topic = "com.example.other" },
        .init("a suffix of another type", "400 TopicDisallowed") { $0.topic = "com.example.rich.voip" },
        .init("a type whose suffix is missing", "400 TopicDisallowed") { $0.pushType = "voip" },
        .init("background with priority 10", "400 BadPriority") {
            $0.pushType = "background"; $0.priority = "10"
        },
        .init("background with priority 5", "200") {
            $0.pushType = "background"; $0.priority = "5"
        },
        .init("no body", "400 PayloadEmpty", body: ""),
        .init("an empty dictionary", "200", body: "{}"),
        .init("4096 bytes", "200", body: String(repeating: "x", count: 4_096)),
        .init("4097 bytes", "413 PayloadTooLarge", body: String(repeating: "x", count: 4_097)),
        .init("a device token that is not hex", "400 BadDeviceToken") {
            $0.path = "/3/device/" + String(repeating: "g", count: 64)
        },
        .init("an odd device token", "400 BadDeviceToken") { $0.path += "a" },
        .init("a short device token", "400 BadDeviceToken") { $0.path = "/3/device/ab" },
        .init("an unknown device token", "400 BadDeviceToken") { $0.path = "/3/device/" + String(repeating: "a", count: 64) },
        .init("a device token in capitals", "200") { $0.path = "/3/device/" + $0.path.dropFirst(10).uppercased() },
    ]

    @Test("a change to a good push gets its answer", arguments: cases)
    func refusal(_ refusal: RefusalCase) throws {
        var fixture = try EmulatorFixture()
        let verdict = fixture.send(body: refusal.body, refusal.change)
        #expect(EmulatorFixture.text(verdict) == refusal.expected)
    }

    @Test("a VoIP push may have 5120 bytes and no more", arguments: [(5_120, "200"), (5_121, "413 PayloadTooLarge")])
    func voip(size: Int, expected: String) throws {
        var fixture = try EmulatorFixture()
        let token = fixture.apns.issueToken(device: EmulatorFixture.device, topic: "com.example.rich.voip")
        let verdict = fixture.send(body: String(repeating: "x", count: size)) { head in
            head.path = "/3/device/" + token
            head.topic = "com.example.rich.voip"
            head.pushType = "voip"
        }
        #expect(EmulatorFixture.text(verdict) == expected)
    }

    @Test("a token of another app of the team is not for the topic")
    func wrongTopic() throws {
        var fixture = try EmulatorFixture()
        try fixture.apns.registerApp(bundleID: "com.example.second", teamID: fixture.signer.teamID)
        let verdict = fixture.send { $0.topic = "com.example.second" }
        #expect(EmulatorFixture.text(verdict) == "400 DeviceTokenNotForTopic")
    }

    @Test("an app of another team is not allowed")
    func foreignApp() throws {
        var fixture = try EmulatorFixture()
        try fixture.apns.registerApp(bundleID: "com.example.foreign", teamID: "TEAM000002")
        let verdict = fixture.send { $0.topic = "com.example.foreign" }
        #expect(EmulatorFixture.text(verdict) == "400 TopicDisallowed")
    }

    @Test("a dead token is answered 410 with its moment in milliseconds")
    func deadToken() throws {
        var fixture = try EmulatorFixture()
        let moment = fixture.clock.now - .seconds(60)
        fixture.apns.invalidate(token: fixture.token, reason: .unregistered, at: moment)
        let first = fixture.send()
        #expect(EmulatorFixture.text(first) == "410 Unregistered")
        #expect(first.answer?.timestamp == moment.milliseconds)
        #expect(first.answer?.body == #"{"reason":"Unregistered","timestamp":\#(moment.milliseconds)}"#)
        fixture.apns.invalidate(token: fixture.token, reason: .expired, at: moment)
        #expect(EmulatorFixture.text(fixture.send()) == "410 ExpiredToken")
    }

    @Test("a rotated token is dead and its successor lives")
    func rotation() throws {
        var fixture = try EmulatorFixture()
        let successor = fixture.apns.rotateToken(device: EmulatorFixture.device, topic: EmulatorFixture.bundleID)
        #expect(EmulatorFixture.text(fixture.send()) == "410 Unregistered")
        #expect(EmulatorFixture.text(fixture.send { $0.path = "/3/device/" + successor }) == "200")
        #expect(successor != fixture.token)
        #expect(successor.count == 64)
    }

    @Test("the rate of a device is a switch, and its window passes")
    func deviceRate() throws {
        var fixture = try EmulatorFixture { $0.deviceRate = .init(count: 2, seconds: 10) }
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        #expect(EmulatorFixture.text(fixture.send()) == "429 TooManyRequests")
        fixture.clock.advance(by: .seconds(10))
        #expect(EmulatorFixture.text(fixture.send()) == "200")
    }

    @Test("switches: background at 10, body that is not JSON")
    func switches() throws {
        var lenient = try EmulatorFixture { $0.backgroundAtPriorityTen = .accept }
        #expect(
            EmulatorFixture.text(
                lenient.send {
                    $0.pushType = "background"; $0.priority = "10"
                }) == "200")
        #expect(EmulatorFixture.text(lenient.send(body: "not json")) == "200")
        var strict = try EmulatorFixture { $0.bodyThatIsNotJSON = .refuse }
        #expect(EmulatorFixture.text(strict.send(body: "not json")) == "400 PayloadEmpty")
        #expect(EmulatorFixture.text(strict.send(body: "[1]")) == "400 PayloadEmpty")
        #expect(EmulatorFixture.text(strict.send(body: #"{"a":[1,{"b":null}]}"#)) == "200")
    }
}
