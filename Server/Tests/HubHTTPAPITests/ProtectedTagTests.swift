import PushHub
import RichPushModel
import SharedAccess
import Testing

@testable import HubHTTPAPI

/// A key that stands in apps could otherwise receive what is meant for another person: every way on which a device gets a tag.
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

    @Test("whoever holds an installation's id cannot move its protected tag to another handle")
    func moved() async throws {
        let hub = try await HubUnderTest()
        #expect(try await hub.call(.dotNet, Self.installation(#","tags":["username:ann"]"#)).status == 200)
        let other = String(repeating: "CD", count: 32)
        let answer = try await hub.call(.dotNet, Self.patch("/pushChannel", #""\#(other)""#), listens: true)
        #expect(answer.status == 403, "\(answer.body)")
    }

    @Test("a hub that trusts the keys of devices takes them")
    func trusted() async throws {
        let hub = try await HubUnderTest(hubs: [])
        _ = try await hub.registry.create(
            try HubRegistry.name("demo"), HubDefinition(details: .init(allowsProtectedTags: true), rules: HubUnderTest.rules))
        for (name, request) in Self.ways where request.method != "PATCH" {
            #expect(try await hub.call(.dotNet, request, listens: true).status == 200, "\(name)")
        }
    }
}
