import Foundation
import PushHub
import RichPushModel
import Testing
import WebPushProtocol

@testable import WebPushDelivery

@Suite("What browsers get of a push for Apple's devices")
struct BrowserMessagesTests {
    private static let page = "https://shop.example/app/"

    private static func message(_ push: String, opening page: String? = page) throws -> [String: JSONValue] {
        let bytes = try #require(ApplePush(Array(push.utf8))).browserMessage(opening: page)
        return try #require(JSONDecoder().decode(JSONValue.self, from: Data(bytes)).members)
    }

    private static func notification(_ push: String, opening page: String? = page) throws -> [String: JSONValue] {
        try #require(try message(push, opening: page)["notification"]?.members)
    }

    @Test("a rich push becomes one text for browsers with and without Declarative Web Push")
    func rich() throws {
        let push = """
            {"aps":{"alert":{"title":"Sale","subtitle":"Today","body":"Half price"},"badge":3,"mutable-content":1,"sound":"default"},\
            "richFor":"0123456789abcdef","richId":"42","richMessage":"Half price","richType":"img"}
            """
        let expected = """
            {"web_push":8030,"notification":{"title":"Sale","body":"Today\\nHalf price","navigate":"https://shop.example/app/#clarion=42",\
            "tag":"clarion-42","data":{"richId":"42","richType":"img","richFor":"0123456789abcdef","richMessage":"Half price"}},\
            "mutable":true,"app_badge":3}
            """
        let bytes = try #require(ApplePush(Array(push.utf8))).browserMessage(opening: Self.page)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test("without a page nothing is declared, and the service worker opens the content")
    func withoutPage() throws {
        let push = #"{"aps":{"alert":{"body":"b"}},"richId":"42"}"#
        let message = try Self.message(push, opening: nil)
        #expect(message["web_push"] == nil)
        #expect(message["notification"]?.members?["navigate"] == nil)
        #expect(message["notification"]?.members?["tag"] == .text("clarion-42"))
    }

    @Test(
        "every push has a title, as browsers show none without",
        arguments: [
            (#"{"aps":{"alert":"words"}}"#, "words"), (#"{"aps":{"alert":{"body":"words"}}}"#, "words"),
            (#"{"aps":{"content-available":1},"richId":"1","richMessage":"open"}"#, "open"),
            (#"{"aps":{"content-available":1},"richId":"1"}"#, "New notification"),
            (#"{"aps":{"alert":{"title-loc-key":"k"}}}"#, "New notification"), (#"{}"#, "New notification"),
            (#"{"aps":{"alert":{"title":7,"body":""}}}"#, "New notification"),
        ])
    func title(push: String, title: String) throws {
        #expect(try Self.notification(push)["title"] == .text(title))
    }

    @Test("a text that stands as the title is not repeated below it")
    func noRepeat() throws {
        #expect(try Self.notification(#"{"aps":{"alert":{"body":"words"}}}"#)["body"] == nil)
    }

    @Test("an alert without a sound is silent, and what the app shows by itself is not")
    func silence() throws {
        #expect(try Self.notification(#"{"aps":{"alert":"a"}}"#)["silent"] == .flag(true))
        #expect(try Self.notification(#"{"aps":{"alert":"a","sound":"default"}}"#)["silent"] == nil)
        #expect(try Self.notification(#"{"aps":{"content-available":1}}"#)["silent"] == nil)
    }

    @Test("a negative badge, and one that is no whole number, is left out", arguments: ["-1", "1.5", "\"3\"", "null"])
    func badge(badge: String) throws {
        #expect(try Self.message("{\"aps\":{\"badge\":\(badge)}}")["app_badge"] == nil)
    }

    @Test("texts that do not fit into a push to a browser are left out, and the rest stays")
    func large() throws {
        func push(title: Int, body: Int) -> String {
            let (title, body) = (String(repeating: "t", count: title), String(repeating: "b", count: body))
            return #"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"}},"richId":"42"}"#
        }
        let long = try Self.message(push(title: 10, body: 3_990))
        #expect(long["notification"]?.members?["title"] == .text("tttttttttt"))
        #expect(long["notification"]?.members?["body"] == nil)
        let longest = try Self.message(push(title: 3_990, body: 10))
        #expect(longest["notification"]?.members?["title"] == .text("New notification"))
        #expect(longest["notification"]?.members?["data"]?.members?["richId"] == .text("42"))
        for (title, body) in [(10, 3_800), (10, 3_990), (3_990, 10)] {
            let bytes = try #require(ApplePush(Array(push(title: title, body: body).utf8))).browserMessage(opening: Self.page)
            #expect(bytes.count <= WebPushEncryption.largestMessage)
        }
    }

    @Test("only Apple's messages are changed")
    func batches() throws {
        var batch = PushBatch(
            hub: HubID(1), bodies: [Array(#"{"own":1}"#.utf8)], headers: [.init(pushType: "", priority: 10, topic: Self.page)],
            targets: [.init(handle: DeviceToken(canonical: "a"), pushID: PushID(UUID()))])
        let run = try #require(batch.targets.runs.first)
        #expect(BrowserMessages(batch)[run] == batch.bodies[0])
        batch.bodyPlatform = .apns
        #expect(BrowserMessages(batch)[run] != batch.bodies[0])
        batch.bodies = [Array("no json".utf8)]
        #expect(BrowserMessages(batch)[run] == nil)
    }
}
