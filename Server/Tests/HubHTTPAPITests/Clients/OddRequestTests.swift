import RichPushModel
import Testing

/// Replayed from rules: the oddities of single clients that Reference/AzureNotificationHubs.md#0, #2 and #8 list, and what must
/// be refused.
@Suite("Odd requests of real clients")
struct OddRequestTests {
    private static let token = RegistrationRequestTests.token
    private static let payload = #"{"aps":{"alert":"Hello"}}"#
    private static let apple = HubClient.dotNet.sendHeaders(format: "apple", tags: "red")

    private func registered(_ hub: HubUnderTest) async throws -> RegistrationReading {
        let client = HubClient.javaScript
        let entry = client.entry("AppleRegistrationDescription", tags: "red", [("DeviceToken", Self.token)])
        return try .entry(try await hub.call(client, ClientRequest("POST", client.registrations(), body: entry)))
    }

    @Test(
        "paths match in any case, with or without a final slash",
        arguments: [
            "/demo/Messages", "/DEMO/messages/", "/demo/MESSAGES/?api-version=2015-01", "/demo/messages?", "/Demo/mEssages",
        ])
    func paths(_ target: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await hub.call(.ruby, ClientRequest("POST", target, Self.apple, body: Self.payload))
        #expect(answer.status == 201, "\(answer.body)")
        let version = target.contains("2015-01") ? "2015-01" : "2020-06"
        let collection = target.prefix { $0 != "?" }.drop { $0 == "/" }.split(separator: "/").joined(separator: "/")
        let location = try answer.location()
        #expect(
            location.hasPrefix("https://\(HubUnderTest.authority)/\(collection)/")
                && location.hasSuffix("?api-version=\(version)"))
    }

    @Test(
        "Location repeats the collection as it was asked for",
        arguments: ["registrationids", "registrationIDs", "registrationids/", "registrationIDs/", "RegistrationIds"])
    func idSpelling(_ word: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await hub.call(.go, ClientRequest("POST", "/demo/\(word)?api-version=2013-08"))
        let expected = "https://\(HubUnderTest.authority)/demo/\(word.split(separator: "/")[0])/"
        #expect(try answer.location().hasPrefix(expected))
    }

    @Test(
        "If-Match is understood in all its shapes",
        arguments: [
            ("*", 200), ("\"*\"", 200), ("\"1\"", 200), ("W/\"1\"", 200), ("1", 200), ("\"2\"", 412), ("W/\"2\"", 412),
            ("2", 412), ("abc", 412), ("\"\"", 412),
        ])
    func conditions(_ condition: String, _ status: Int) async throws {
        let hub = try await HubUnderTest()
        let registration = try await registered(hub)
        let target = HubClient.dotNet.registration(registration.id)
        let update = HubClient.dotNet.entry("AppleRegistrationDescription", tags: "blue", [("DeviceToken", Self.token)])
        #expect(
            try await hub.call(.dotNet, ClientRequest("PUT", target, [("If-Match", condition)], body: update)).status == status)
        let again = condition.replacing("1", with: status == 200 ? "2" : "1")
        #expect(try await hub.call(.dotNet, ClientRequest("DELETE", target, [("If-Match", again)])).status == status)
        let unknown = try await hub.call(
            .dotNet, ClientRequest("PUT", HubClient.dotNet.registration("1-2-3"), [("If-Match", condition)], body: update))
        #expect(unknown.status == 404)
    }

    @Test("a client may choose the id of a registration, and a refresh with the same id keeps it")
    func ownID() async throws {
        let hub = try await HubUnderTest()
        let client = HubClient.appleLegacy
        let entry = client.entry("AppleRegistrationDescription", tags: nil, [("DeviceToken", Self.token)])
        for etag in ["1", "2"] {
            let answer = try await hub.call(
                client, ClientRequest("PUT", client.registration("123-234-1"), [client.entryType], body: entry), listens: true)
            let registration = try RegistrationReading.entry(answer)
            #expect(registration.id == "123-234-1")
            #expect(registration.etag == etag)
        }
    }

    @Test("the special tags that a client read and stores again are no mistake and no right, and the answer lacks them")
    func specialTags() async throws {
        let hub = try await HubUnderTest()
        let client = HubClient.dotNet
        let entry = client.entry(
            "AppleRegistrationDescription", tags: "red,$InstallationId:{7d1f-22},$UserId:{ann}", [("DeviceToken", Self.token)])
        let answer = try await hub.call(client, ClientRequest("POST", client.registrations(), body: entry))
        #expect(answer.status == 200, "\(answer.body)")
        #expect(try RegistrationReading.entry(answer).tags == ["red"])
        let found = try await hub.call(client, ClientRequest("GET", "/demo/tags/$UserId:%7Bann%7D/registrations"))
        #expect(try RegistrationReading.feed(found).isEmpty)
    }

    @Test("the flag for tests that a client adds to everything means nothing where nothing is sent")
    func testFlag() async throws {
        let hub = try await HubUnderTest()
        let entry = HubClient.dotNet.entry("AppleRegistrationDescription", tags: "red", [("DeviceToken", Self.token)])
        let answer = try await hub.call(.dotNet, ClientRequest("POST", HubClient.dotNet.registrations("test"), body: entry))
        #expect(answer.status == 200)
        #expect(try await hub.call(.dotNet, ClientRequest("GET", HubClient.dotNet.registrations("test"))).status == 200)
    }

    @Test("the same call sent again by a client's own retry is one send; other content is another")
    func repeats() async throws {
        let hub = try await HubUnderTest()
        for (client, name) in [(HubClient.java, "TrackingId"), (.javaScript, "x-ms-client-request-id")] {
            let request = ClientRequest(
                "POST", client.messages(), client.sendHeaders(format: "apple", tags: "red"), body: Self.payload
            )
            .adding(name, "5b1f8f5e-0000-4000-8000-00000000000\(client == .java ? 1 : 2)")
            let first = try await hub.call(client, request).location()
            #expect(try await hub.call(client, request).location() == first)
            var other = request
            other.body = #"{"aps":{"alert":"Other"}}"#
            let answer = try await hub.call(client, other)
            let location = try answer.location()
            #expect(answer.status == 201)
            #expect(location != first)
        }
    }

    @Test(
        "a call that is sent again when its expiry has passed is still the send that it was",
        arguments: [HubClient.java, .javaScript])
    func lateRepeat(client: HubClient) async throws {
        let hub = try await HubUnderTest()
        let name = client == .java ? "TrackingId" : "x-ms-client-request-id"
        let request = ClientRequest(
            "POST", client.messages(), client.sendHeaders(format: "apple", tags: "red"), body: Self.payload
        )
        .adding(name, "5b1f8f5e-0000-4000-8000-000000000003")
        let first = try await hub.call(client, request).location()
        // The date of the one client means another half of the day by now.
        hub.clock.advance(by: .seconds(36 * 3600))
        let answer = try await hub.call(client, request)
        #expect(answer.status == 201, "\(answer.body)")
        #expect(try answer.location() == first)
    }

    @Test("the priority that a client always names is lowered for a silent push whose type it does not name")
    func silentPriority() async throws {
        let hub = try await HubUnderTest()
        let silent = #"{"aps":{"content-available":1,"sound":""},"richId":"1"}"#
        let request = ClientRequest(
            "POST", HubClient.dotNet.messages(), HubClient.dotNet.sendHeaders(format: "apple", tags: "red"), body: silent)
        #expect(try await hub.call(.dotNet, request).status == 201)
        #expect(try await hub.call(.dotNet, request.adding("X-Apns-Push-Type", "background")).status == 400)
    }

    @Test("a list of tags where an expression belongs is read as alternatives")
    func commas() async throws {
        let hub = try await HubUnderTest()
        let headers = HubClient.javaScript.sendHeaders(format: "apple", tags: "red,blue")
        let answer = try await hub.call(
            .javaScript, ClientRequest("POST", HubClient.javaScript.messages(), headers, body: Self.payload))
        #expect(answer.status == 201, "\(answer.body)")
    }

    @Test("a send without a format is one to Apple devices if its body says so, else a mistake")
    func formatMissing() async throws {
        let hub = try await HubUnderTest()
        let request = ClientRequest("POST", HubClient.java.messages(), [HubClient.java.jsonType], body: Self.payload)
        #expect(try await hub.call(.java, request).status == 201)
        var other = request
        other.body = #"{"message":"x"}"#
        #expect(try await hub.call(.java, other).status == 400)
    }

    @Test(
        "a send that breaks a rule is refused with a detail, never with 5xx",
        arguments: [
            ("ServiceBusNotification-Tags", "a b", 400), ("ServiceBusNotification-Tags", "(a", 400),
            ("ServiceBusNotification-Tags", "$Other:{a}", 400),
            ("ServiceBusNotification-Tags", (1...21).map { "t\($0)" }.joined(separator: "||"), 400),
            ("ServiceBusNotification-Format", "pager", 400),
        ])
    func mistakes(_ name: String, _ value: String, _ status: Int) async throws {
        let hub = try await HubUnderTest()
        let headers = [(name: "ServiceBusNotification-Format", value: "apple")].filter { $0.name != name } + [(name, value)]
        let answer = try await hub.call(.dotNet, ClientRequest("POST", HubClient.dotNet.messages(), headers, body: Self.payload))
        #expect(answer.status == status && answer.body.hasPrefix("<Error><Code>\(status)</Code><Detail>"), "\(answer.body)")
    }

    @Test("a body beyond 64 KB is 413, one that is no JSON 400")
    func bodies() async throws {
        let hub = try await HubUnderTest()
        let large = #"{"aps":{"alert":""# + String(repeating: "x", count: 65_536) + #""}}"#
        for (body, status) in [(large, 413), ("{", 400), ("", 400), ("[]", 400)] {
            let answer = try await hub.call(.dotNet, ClientRequest("POST", HubClient.dotNet.messages(), Self.apple, body: body))
            #expect(answer.status == status && answer.body.hasPrefix("<Error>"), "\(answer.body)")
        }
        let properties = HubClient.dotNet.sendHeaders(format: "template")
        let nested = try await hub.call(
            .dotNet, ClientRequest("POST", HubClient.dotNet.messages(), properties, body: #"{"a":{"b":1}}"#))
        #expect(nested.status == 400 && nested.body.contains("character 6"), "\(nested.body)")
    }

    @Test(
        "an entry that is no registration is 400 with a detail",
        arguments: [
            "", "<entry", "<entry/>", "{}",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><entry xmlns=\"http://www.w3.org/2005/Atom\">&b;</entry>",
            HubClient.java.entry("PagerRegistrationDescription", tags: "a", [("DeviceToken", token)]),
            HubClient.java.entry("AppleRegistrationDescription", tags: "a", []),
            HubClient.java.entry("AppleRegistrationDescription", tags: "a", [("DeviceToken", "not hex")]),
            HubClient.java.entry("AppleRegistrationDescription", tags: "a b", [("DeviceToken", token)]),
            HubClient.java.entry("AppleRegistrationDescription", tags: "$Other:{a}", [("DeviceToken", token)]),
            HubClient.java.entry("AppleRegistrationDescription", tags: "a<b", [("DeviceToken", token)]),
            HubClient.java.entry("AppleTemplateRegistrationDescription", tags: "a", [("DeviceToken", token)]),
            HubClient.java.entry(
                "AppleTemplateRegistrationDescription", tags: "a",
                [("DeviceToken", token), ("BodyTemplate", #"<![CDATA[{"aps":{"alert":"$5 off"}}]]>"#)]),
            HubClient.java.entry(
                "WindowsTemplateRegistrationDescription", tags: "a",
                [("ChannelUri", "https://c.example.test/"), ("BodyTemplate", "<![CDATA[<toast/>]]></WnsHeaders>")]),
        ])
    func entries(_ body: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await hub.call(
            .java, ClientRequest("POST", HubClient.java.registrations(), [HubClient.java.entryType], body: body))
        #expect(
            answer.status == 400 && answer.body.hasPrefix("<Error><Code>400</Code><Detail>"), "\(answer.status) \(answer.body)")
    }

    @Test("a list of exactly one header is left out for the one client that breaks on it")
    func headerLists() async throws {
        let hub = try await HubUnderTest()
        for count in 0...2 {
            let fields = (0..<count).map {
                "<ApnsHeader><Header>apns-\($0 == 0 ? "priority" : "collapse-id")</Header><Value>10</Value></ApnsHeader>"
            }.joined()
            let entry = HubClient.java.entry(
                "AppleTemplateRegistrationDescription", tags: "a",
                [("DeviceToken", Self.token), ("BodyTemplate", "<![CDATA[\(Self.payload)]]>"), ("ApnsHeaders", fields)])
            let answer = try await hub.call(.java, ClientRequest("POST", HubClient.java.registrations(), body: entry))
            let stored = try RegistrationReading.entry(answer)
            #expect(stored.headers.count == count, "\(answer.body)")
            let read = try await hub.call(.javaScript, ClientRequest("GET", HubClient.javaScript.registration(stored.id)))
            #expect(try RegistrationReading.entry(read).headers.count == (count == 1 ? 0 : count), "\(read.body)")
        }
    }

    @Test("every answer has a GUID as its tracking id, and the client's own where it sent one")
    func trackingID() async throws {
        let hub = try await HubUnderTest()
        for target in ["/demo/registrations?api-version=2020-06", "/demo/nothing", "/demo/registrations/none"] {
            let answer = try await hub.call(.javaScript, ClientRequest("GET", target))
            let id = try #require(answer.headers["trackingid"])
            #expect(id.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
            #expect(answer.headers["x-ms-correlation-request-id"] == id)
            #expect((answer.status == 200 || answer.body.contains(id)))
            let named = try await hub.call(.java, ClientRequest("GET", target).adding("TrackingId", "mine"))
            #expect(named.headers["trackingid"] == "mine")
        }
    }

    @Test(
        "an unknown path, below a hub or where one would be, is reported in the form that clients read",
        arguments: [
            "/demo/zzz", "//demo/registrations", "/demo/registrations//x", "/demo/registrations/a/b", "/nowhere/zzz",
            "/demo/messages/$batch/x/y",
        ])
    func unknownPaths(target: String) async throws {
        let hub = try await HubUnderTest()
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let answer = try await hub.call(.dotNet, ClientRequest(method, target))
            #expect(answer.status == 404 && answer.body.hasPrefix("<Error><Code>404</Code><Detail>"), "\(method) \(answer.body)")
        }
        let other = try await hub.call(.dotNet, ClientRequest("GET", "/api/zzz"))
        #expect(other.status == 404 && other.headers["content-type"]?.hasPrefix("application/problem+json") == true)
    }

    @Test("a name of another host is a bad request with the sub-code of one, not a refusal that clients repeat")
    func otherHost() async throws {
        let hub = try await HubUnderTest(service: { $0.allowedHosts = ["push.example.test"] })
        #expect(try await hub.call(.dotNet, ClientRequest("GET", "/demo/registrations")).status == 200)
        var other = ClientRequest("GET", "/demo/registrations")
        other.headers = [("Host", "evil.example")]
        let answer = try await hub.call(other)
        #expect(
            answer.status == 400 && answer.body.contains("<Code>400</Code><Detail>SubCode=40000. Host is not"), "\(answer.body)")
    }

    @Test(
        "a windows send says of what type it is",
        arguments: [("wns/toast", 201), ("WNS/Raw", 201), (nil, 400), ("toast", 400), ("", 400)])
    func windowsType(type: String?, status: Int) async throws {
        let hub = try await HubUnderTest()
        var request = ClientRequest(
            "POST", HubClient.java.messages(), [("ServiceBusNotification-Format", "windows")], body: "<toast/>")
        if let type { request = request.adding("X-WNS-Type", type) }
        let answer = try await hub.call(.java, request)
        #expect(answer.status == status && (status == 201 || answer.body.contains("X-WNS-Type")), "\(answer.body)")
    }

    @Test("a missing right, hub or route is reported in the form that clients read")
    func refusals() async throws {
        let hub = try await HubUnderTest()
        let send = ClientRequest("POST", HubClient.dotNet.messages(), Self.apple, body: Self.payload)
        let weak = try await hub.call(.dotNet, send, listens: true)
        #expect(weak.status == 403)
        #expect(weak.body.contains("SubCode=40300. Send claim is required for this operation"))
        // With it .NET would take the refusal for throttling, and wait.
        #expect(weak.headers["retry-after"] == nil)
        let list = try await hub.call(.dotNet, ClientRequest("GET", HubClient.dotNet.registrations()), listens: true)
        #expect(list.status == 403)
        #expect(list.body.contains("Manage claim is required for this operation"))
        for target in ["/other/messages", "/other/registrations"] {
            let answer = try await hub.call(.dotNet, ClientRequest("GET", target))
            #expect([401, 405].contains(answer.status), "who holds no key of the hub learns nothing about it")
            #expect(answer.body.hasPrefix("<Error><Code>\(answer.status)</Code><Detail>"))
        }
        let wrong = try await hub.call(.dotNet, ClientRequest("PATCH", "/demo/registrations"))
        #expect(wrong.status == 405)
        #expect(wrong.body.hasPrefix("<Error><Code>405</Code>"))
    }

    @Test("every answer carries the ids that clients print, and repeats a request's own")
    func trackingIDs() async throws {
        let hub = try await HubUnderTest()
        let request = ClientRequest("GET", HubClient.java.registrations())
        let answer = try await hub.call(.java, request.adding("TrackingId", "5b1f8f5e-0000-4000-8000-000000000001"))
        #expect(answer.headers["trackingid"] == "5b1f8f5e-0000-4000-8000-000000000001")
        #expect(answer.headers["x-ms-correlation-request-id"]?.isEmpty == false)
        let failed = try await hub.call(ClientRequest("GET", "/demo/registrations"))
        #expect(failed.status == 401 && failed.headers["trackingid"]?.isEmpty == false)
    }
}
