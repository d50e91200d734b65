import RichPushModel
import ServiceErrors
import Testing

@testable import PushHub

@Suite("Checks of intake on a message")
struct MessageCheckTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)
    private let id = NotificationID()

    private func check(_ message: PushMessage, dueAt: Timestamp? = nil, fills: Bool = true) throws -> AcceptedMessage {
        try MessageCheck(now: now, dueAt: dueAt ?? now, fillsCollapseID: fills).accepted(message, id: id)
    }

    private func message(_ body: String) -> PushMessage { PushMessage(body: Array(body.utf8)) }

    private func code(_ message: PushMessage, dueAt: Timestamp? = nil) -> ServiceErrorCode? {
        do {
            _ = try check(message, dueAt: dueAt)
            return nil
        } catch {
            return (error as? ServiceError)?.code
        }
    }

    @Test(
        "content-available 1 with nothing to show, play or count is background with priority 5",
        arguments: [
            (#"{"aps":{"content-available":1}}"#, true), (#"{"aps":{"content-available":1,"sound":""},"richId":"7"}"#, true),
            (#"{"aps":{"content-available":1,"alert":""}}"#, true), (#"{"aps":{"content-available":1,"alert":{}}}"#, true),
            (#"{"aps":{"content-available":1,"alert":null}}"#, true), (#"{"aps":{"content-available":1,"badge":0}}"#, false),
            (#"{"aps":{"content-available":1,"alert":"a"}}"#, false),
            (#"{"aps":{"content-available":1,"alert":{"title":"a"}}}"#, false),
            (#"{"aps":{"content-available":1,"sound":"default"}}"#, false),
            (#"{"aps":{"content-available":1,"sound":{"name":"x"}}}"#, false),
            (#"{"aps":{"content-available":0}}"#, false), (#"{"aps":{"content-available":"1"}}"#, false), (#"{"aps":{}}"#, false),
            (#"{"aps":[1]}"#, false), (#"{}"#, false), (#"{"content-available":1}"#, false),
        ])
    func derivation(_ body: String, _ isSilent: Bool) throws {
        let accepted = try check(message(body))
        #expect(accepted.pushType == (isSilent ? "background" : "alert") && accepted.priority == (isSilent ? 5 : 10))
        #expect(accepted.body == Array(body.utf8))
    }

    @Test(
        "a body that is not one JSON object is refused",
        arguments: [
            "", "[]", "1", "null", "\"text\"", "{", #"{"aps":}"#, "{} {}", "{'a':1}",
            #"{"a":"# + String(repeating: "[", count: 2000), "\u{0}",
        ])
    func malformed(_ body: String) {
        #expect(code(message(body)) == .malformedJSON)
    }

    @Test("a body may have 4096 bytes, for voip 5120")
    func size() {
        func sized(_ bytes: Int, _ type: String? = nil) -> PushMessage {
            let frame = #"{"a":""}"#.utf8.count
            return PushMessage(body: Array(#"{"a":"\#(String(repeating: "x", count: bytes - frame))"}"#.utf8), pushType: type)
        }
        #expect(code(sized(4096)) == nil && code(sized(4097)) == .payloadTooLarge)
        #expect(code(sized(5120, "voip")) == nil && code(sized(5121, "voip")) == .payloadTooLarge)
        #expect(code(sized(10_000_000)) == .payloadTooLarge)
    }

    @Test("push type and priority must go together")
    func headers() {
        func with(_ type: String?, _ priority: Int?) -> PushMessage {
            PushMessage(body: Array("{}".utf8), pushType: type, priority: priority)
        }
        #expect(code(with("background", 10)) == .invalidField && code(with("background", 5)) == nil)
        #expect(code(with("background", 1)) == nil && code(with("alert", 10)) == nil && code(with("alert", 5)) == nil)
        #expect(code(with("nonsense", nil)) == .invalidField && code(with(nil, 7)) == .invalidField)
        var silent = message(#"{"aps":{"content-available":1}}"#)
        silent.priority = 7
        #expect(code(silent) == .invalidField)
        // Who names no type did not choose the type that forbids it.
        silent.priority = 10
        #expect(code(silent) == nil)
    }

    @Test(
        "line breaks, foreign bytes and overlong words in headers are refused",
        arguments: [
            "a\r\nb", "a\nb", "ä", "", String(repeating: "x", count: 129), "a\u{0}", "a b",
        ])
    func headerText(_ text: String) {
        var message = message("{}")
        message.topic = text
        #expect(code(message) == .invalidField)
        message.topic = nil
        message.collapseID = text
        #expect(code(message) == (text == "a b" ? nil : .invalidField))
    }

    @Test("a collapse id has at most 64 bytes; an alert without one gets the notification's")
    func collapse() throws {
        var message = message("{}")
        message.collapseID = String(repeating: "c", count: 64)
        #expect(try check(message).collapseID == message.collapseID)
        message.collapseID = String(repeating: "c", count: 65)
        #expect(code(message) == .invalidField)
        message.collapseID = nil
        #expect(try check(message).collapseID == id.text)
        #expect(try check(message, fills: false).collapseID == nil)
        #expect(try check(self.message(#"{"aps":{"content-available":1}}"#)).collapseID == nil)
    }

    @Test("an expiry in the past or before the send is due is refused")
    func expiry() {
        var message = message("{}")
        message.expiresAt = now
        #expect(code(message) == .invalidField)
        message.expiresAt = now + .seconds(1)
        #expect(code(message) == nil)
        #expect(code(message, dueAt: now + .seconds(1)) == .invalidField)
    }
}
