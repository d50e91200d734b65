import PushHub
import RichPushModel
import SharedAccess
import TagExpressions
import Testing

@testable import HubHTTPAPI

/// Every way in which a device gets a tag: with a key from an app, a client could otherwise receive another user's pushes.
@Suite("Tags that the keys of devices may not claim")
struct ProtectedTagTests {
    private static let token = RegistrationRequestTests.token
    private static let template = #"{"aps":{"alert":"$(message)"}}"#

    private static func installation(_ members: String) -> ClientRequest {
        ClientRequest(
            "PUT", "/demo/installations/x?api-version=2020-06", [("Content-Type", "application/json")],
            body: #"{"installationId":"x","platform":"apns","pushChannel":"\#(token)"\#(members)}"#)
    }

    private static func patch(_ path: String, _ value: String) -> ClientRequest {
        ClientRequest(
            "PATCH", "/demo/installations/x?api-version=2020-06", [("Content-Type", "application/json-patch+json")],
            body: #"[{"op":"add","path":"\#(path)","value":\#(value)}]"#)
    }

    private static func text(_ template: String, tags: String = "") -> String {
        let body = template.replacing("\"", with: "\\\"")
        return #"{"body":"\#(body)"\#(tags)}"#
    }

    private static let ways: [(name: String, request: ClientRequest)] = [
        ("a registration", registration("username:ann")), ("other letters", registration("UserName:ann")),
        ("an installation", installation(#","tags":["red","username:ann"]"#)),
        ("a template's tag", installation(#","templates":{"t":\#(text(template, tags: #","tags":["username:ann"]"#))}"#)),
        ("a template's name", installation(#","templates":{"username:ann":\#(text(template))}"#)),
        (
            "a tile's tag",
            installation(#","secondaryTiles":{"s":{"pushChannel":"\#(token)","tags":["username:ann"],"templates":{}}}"#)
        ),
        (
            "the name of a tile's template",
            installation(
                #","secondaryTiles":{"s":{"pushChannel":"\#(token)","templates":{"username:ann":\#(text(template))}}}"#)
        ),
        ("a patch of tags", patch("/tags", #""username:ann""#)),
        ("a patch of a template's name", patch("/templates/username:ann", text(template))),
        ("a patch of a template's tags", patch("/templates/t", text(template, tags: #","tags":["username:ann"]"#))),
    ]

    private static func registration(_ tag: String) -> ClientRequest {
        let client = HubClient.dotNet
        return ClientRequest(
            "POST", client.registrations(), [client.entryType],
            body: client.entry("AppleRegistrationDescription", tags: tag, [("DeviceToken", token)]))
    }

    @Test("a key without Manage claims no protected tag on any way, and a key with it does", arguments: ways.indices)
    func refused(index: Int) async throws {
        let (name, request) = Self.ways[index]
        let hub = try await HubUnderTest()
        #expect(try await hub.call(.dotNet, Self.installation(""), listens: true).status == 200)
        let refused = try await hub.call(.dotNet, request, listens: true)
        #expect(refused.status == 403 && refused.body.contains("username:"), "\(name): \(refused.status) \(refused.body)")
        #expect(try await hub.call(.dotNet, request).status == 200, "\(name)")
    }

    @Test("a client that knows an installation's id cannot move its protected tag to another handle")
    func moved() async throws {
        let hub = try await HubUnderTest()
        #expect(try await hub.call(.dotNet, Self.installation(#","tags":["username:ann"]"#)).status == 200)
        let other = String(repeating: "CD", count: 32)
        let answer = try await hub.call(.dotNet, Self.patch("/pushChannel", #""\#(other)""#), listens: true)
        #expect(answer.status == 403, "\(answer.body)")
    }

    @Test("a key without Manage neither replaces nor removes an installation that has a protected tag")
    func kept() async throws {
        let hub = try await HubUnderTest()
        let template = #","templates":{"t":\#(Self.text(Self.template, tags: #","tags":["username:ann"]"#))}"#
        for members in [#","tags":["username:ann"]"#, template] {
            #expect(try await hub.call(.dotNet, Self.installation(members)).status == 200)
            let list = try await hub.call(.dotNet, ClientRequest("GET", HubClient.dotNet.registrations()))
            let records = try RegistrationReading.feed(list).map(\.id)
            let removals = ["/demo/installations/x"] + records.map { "/demo/registrations/\($0)" }
            let requests =
                [Self.installation(""), Self.patch("/tags", #""red""#)]
                + removals.map { ClientRequest("DELETE", "\($0)?api-version=2020-06", [("If-Match", "*")]) }
            for request in requests {
                let answer = try await hub.call(.dotNet, request, listens: true)
                let words: Comment = "\(request.method) \(request.target): \(answer.status) \(answer.body)"
                #expect(answer.status == 403 && answer.body.contains("username:"), words)
            }
        }
        let left = try await hub.call(.dotNet, ClientRequest("GET", "/demo/installations/x?api-version=2020-06"))
        #expect(left.status == 200 && left.body.contains("username:ann"), "\(left.body)")
        #expect(try await hub.call(.dotNet, Self.installation("")).status == 200, "a key with Manage may")
        let free = ClientRequest("DELETE", "/demo/installations/x?api-version=2020-06")
        #expect(try await hub.call(.dotNet, free, listens: true).status == 204)
    }

    @Test("a key without Manage neither replaces nor removes a registration that has a protected tag")
    func keptRegistration() async throws {
        let (hub, client) = (try await HubUnderTest(), HubClient.dotNet)
        func put(_ tag: String) -> ClientRequest {
            ClientRequest(
                "PUT", client.registration("1-2-3"), [client.entryType],
                body: client.entry("AppleRegistrationDescription", tags: tag, [("DeviceToken", Self.token)]))
        }
        let delete = ClientRequest("DELETE", client.registration("1-2-3"), [("If-Match", "*")])
        #expect(try await hub.call(client, put("username:ann")).status == 200)
        for request in [put("red"), delete] {
            #expect(try await hub.call(client, request, listens: true).status == 403, "\(request.method)")
        }
        #expect(try await hub.call(client, put("red")).status == 200)
        for request in [put("blue"), delete] {
            #expect(try await hub.call(client, request, listens: true).status == 200, "\(request.method)")
        }
    }

    @Test("a key without Manage gets 204 for removing an installation whose id is that of a registration with a protected tag")
    func otherKind() async throws {
        let (hub, client) = (try await HubUnderTest(), HubClient.dotNet)
        let put = ClientRequest(
            "PUT", client.registration("1-2-3"), [client.entryType],
            body: client.entry("AppleRegistrationDescription", tags: "username:ann", [("DeviceToken", Self.token)]))
        #expect(try await hub.call(client, put).status == 200)
        let delete = ClientRequest("DELETE", "/demo/installations/1-2-3?api-version=2020-06")
        #expect(try await hub.call(client, delete, listens: true).status == 204)
        let left = try await hub.call(client, ClientRequest("GET", client.registration("1-2-3")))
        #expect(left.status == 200 && left.body.contains("username:ann"), "\(left.body)")
    }

    @Test(
        "a protected tag that comes right before a change counts: the change of a key without Manage is refused",
        arguments: ["PUT", "DELETE"])
    func race(_ method: String) async throws {
        let tag = try #require(Tag("username:ann"))
        let (phone, record) = (try #require(RecordID("x")), try #require(RecordID("1-2-3")))
        let handle = try #require(DeviceToken(Self.token, platform: .apns))
        let hub = try await HubUnderTest(devices: { store in
            InterruptedDevices(store) { hub, now in
                let content = InstallationUpsert(id: phone, handle: handle, tags: [tag])
                _ = try await store.put(content, in: hub, at: now)
                let registration = DeviceUpsert(id: record, kind: .registration, handle: handle, tags: [tag])
                _ = try await store.upsert(registration, in: hub, at: now)
            }
        })
        let client = HubClient.dotNet
        let entry = client.entry("AppleRegistrationDescription", tags: "red", [("DeviceToken", Self.token)])
        let requests =
            method == "PUT"
            ? [Self.installation(""), ClientRequest("PUT", client.registration("1-2-3"), [client.entryType], body: entry)]
            : [
                ClientRequest("DELETE", "/demo/installations/x?api-version=2020-06"),
                ClientRequest("DELETE", client.registration("1-2-3"), [("If-Match", "*")]),
            ]
        for request in requests {
            let answer = try await hub.call(client, request, listens: true)
            #expect(answer.status == 403 && answer.body.contains("username:"), "\(answer.status) \(answer.body)")
        }
        let left = try await hub.call(client, ClientRequest("GET", "/demo/installations/x?api-version=2020-06"))
        #expect(left.body.contains("username:ann"), "\(left.body)")
    }

    @Test("a hub that trusts the keys of devices takes them")
    func trusted() async throws {
        let hub = try await HubUnderTest(hubs: [])
        _ = try await hub.registry.create(
            try HubRegistry.name("demo"), HubChange(details: .init(allowsProtectedTags: true), rules: HubUnderTest.rules))
        for (name, request) in Self.ways where request.method != "PATCH" {
            #expect(try await hub.call(.dotNet, request, listens: true).status == 200, "\(name)")
        }
    }
}

/// Devices that another client changes right before each change.
private struct InterruptedDevices: DeviceStore {
    let store: any DeviceStore
    let interrupt: @Sendable (HubID, Timestamp) async throws -> Void

    init(_ store: any DeviceStore, interrupt: @escaping @Sendable (HubID, Timestamp) async throws -> Void) {
        (self.store, self.interrupt) = (store, interrupt)
    }

    func upsert(
        _ request: DeviceUpsert, in hub: HubID, at now: Timestamp, allowing: ReplacementCheck?
    ) async throws -> StoredDevice {
        try await interrupt(hub, now)
        return try await store.upsert(request, in: hub, at: now, allowing: allowing)
    }

    func remove(
        _ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID, allowing: ReplacementCheck?
    ) async throws -> Bool {
        try await interrupt(hub, Timestamp(seconds: 1))
        return try await store.remove(id, expecting: precondition, in: hub, allowing: allowing)
    }

    func put(
        _ installation: InstallationUpsert, in hub: HubID, at now: Timestamp, allowing: ReplacementCheck?
    ) async throws -> DeviceInstallation {
        try await interrupt(hub, now)
        return try await store.put(installation, in: hub, at: now, allowing: allowing)
    }

    func removeInstallation(_ id: RecordID, in hub: HubID, allowing: ReplacementCheck?) async throws -> Bool {
        try await interrupt(hub, Timestamp(seconds: 1))
        return try await store.removeInstallation(id, in: hub, allowing: allowing)
    }

    func device(_ id: RecordID, in hub: HubID) async throws -> DeviceRecord? { try await store.device(id, in: hub) }

    func installation(_ id: RecordID, in hub: HubID) async throws -> DeviceInstallation? {
        try await store.installation(id, in: hub)
    }

    func devices(_ request: DeviceListRequest, in hub: HubID) async throws -> DevicePage {
        try await store.devices(request, in: hub)
    }

    func update(
        _ id: RecordID, in hub: HubID, at now: Timestamp,
        _ transform: @escaping @Sendable (DeviceInstallation) throws -> InstallationUpsert
    ) async throws -> DeviceInstallation? { try await store.update(id, in: hub, at: now, transform) }

    func sample(
        _ audience: TagExpression?, format: SendFormat, in hub: HubID, at now: Timestamp, limit: Int
    ) async throws -> [DeviceRecord] { try await store.sample(audience, format: format, in: hub, at: now, limit: limit) }

    func count(
        _ audience: TagExpression?, format: SendFormat, in hub: HubID, at now: Timestamp, limit: Int
    ) async throws -> AudienceCount { try await store.count(audience, format: format, in: hub, at: now, limit: limit) }

    func settleZones(at now: Timestamp, limit: Int) async throws -> Int { try await store.settleZones(at: now, limit: limit) }

    func sweep(expiredBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await store.sweep(expiredBefore: moment, limit: limit)
    }

    func devices(
        with handle: DeviceToken, platform: Platform, in hub: HubID, limit: Int
    ) async throws -> [DeviceRecord] { try await store.devices(with: handle, platform: platform, in: hub, limit: limit) }

    func count(in hub: HubID) async throws -> Int { try await store.count(in: hub) }
}
