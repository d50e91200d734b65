import Foundation
import PushHub
import RichPushModel
import Testing

@testable import FCMDelivery

@Suite("What Android apps get of a push for Apple's devices")
struct AndroidDataTests {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let rich = """
        {"aps":{"alert":{"title":"Sale","subtitle":"Today","body":"Half price"},"badge":3,"category":"richPush","mutable-content":1,\
        "sound":"default","thread-id":"shop"},"richFor":"0123456789abcdef","richId":"42","richMessage":"Half price","richType":"img"}
        """

    private func message(
        _ push: String, _ headers: PushBatch.Headers = .init(pushType: "alert", priority: 10)
    ) throws -> [String: JSONValue] {
        let text = try #require(AndroidData(push: Array(push.utf8))).message(headers, at: Self.now)
        return try #require(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)).members?["message"]?.members)
    }

    private func data(_ push: String) throws -> [String: JSONValue] { try #require(try message(push)["data"]?.members) }

    private func android(priority: Int = 10, expiration: Int64? = nil, collapseID: String? = nil) throws -> [String: JSONValue] {
        let headers = PushBatch.Headers(pushType: "alert", priority: priority, expiration: expiration, collapseID: collapseID)
        return try #require(try message("{}", headers)["android"]?.members)
    }

    @Test("a rich push becomes data alone, every value a text")
    func rich() throws {
        let message = try message(Self.rich)
        #expect(Set(message.keys) == ["data", "android"])
        #expect(
            message["data"]?.members == [
                "richId": .text("42"), "richType": .text("img"), "richFor": .text("0123456789abcdef"),
                "richMessage": .text("Half price"),
                "title": .text("Sale"), "subtitle": .text("Today"), "body": .text("Half price"), "sound": .text("default"),
                "badge": .text("3"), "thread": .text("shop"),
            ])
    }

    @Test("a push that only wakes the app has nothing to show")
    func silent() throws {
        let push = #"{"aps":{"content-available":1},"richId":"42","richType":"img"}"#
        #expect(try data(push) == ["richId": .text("42"), "richType": .text("img")])
    }

    @Test(
        "other spellings of alert, sound and id are read",
        arguments: [
            (#"{"aps":{"alert":"words"}}"#, "body", "words"),
            (#"{"aps":{"sound":{"critical":1,"name":"siren"}}}"#, "sound", "siren"),
            (#"{"richId":42}"#, "richId", "42"), (#"{"aps":{"badge":0}}"#, "badge", "0"),
        ])
    func spellings(push: String, key: String, value: String) throws { #expect(try data(push) == [key: .text(value)]) }

    @Test(
        "what has no value that can be shown is absent",
        arguments: [
            "{}", #"{"aps":7}"#, #"{"aps":{"alert":{}}}"#, #"{"aps":{"sound":""}}"#, #"{"aps":{"badge":1.5}}"#,
            #"{"richMessage":""}"#,
            #"{"aps":{"alert":{"body":["a"]}}}"#, #"{"richType":null}"#,
        ])
    func absent(push: String) throws { #expect(try data(push).isEmpty) }

    @Test("nothing of the push goes on but what the contract names")
    func rest() throws { #expect(try data(#"{"aps":{"category":"c","url-args":["a"]},"secret":"x"}"#).isEmpty) }

    @Test("what is no JSON object makes no message", arguments: ["", "[]", "text"])
    func noPush(push: String) { #expect(AndroidData(push: Array(push.utf8)) == nil) }

    @Test("a priority of 10 wakes the device, and a lower one may wait", arguments: [(10, "HIGH"), (5, "NORMAL"), (1, "NORMAL")])
    func priority(priority: Int, word: String) throws { #expect(try android(priority: priority)["priority"] == .text(word)) }

    @Test(
        "an expiry becomes the time that is left, four weeks at most",
        arguments: [(0, "0s"), (1_800_000_060, "60s"), (1_799_999_999, "0s"), (1_900_000_000, "2419200s")] as [(Int64, String)])
    func life(expiration: Int64, life: String) throws { #expect(try android(expiration: expiration)["ttl"] == .text(life)) }

    @Test("without an expiry FCM keeps the message for as long as it does")
    func noLife() throws { #expect(try android()["ttl"] == nil) }

    @Test("a sender's collapse id collapses at FCM as well")
    func collapse() throws { #expect(try android(collapseID: "order-4711")["collapse_key"] == .text("order-4711")) }

    @Test("the notification id, which the hub takes without one, does not: FCM keeps four keys for a phone that is away")
    func noCollapse() throws {
        #expect(try android(collapseID: NotificationID().text)["collapse_key"] == nil)
        #expect(try android(collapseID: "f81d4fae-7dec-11d0-a765-00a0c91e6bfx")["collapse_key"] != nil)
    }
}
