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
            (#"{}"#, false), (#" { "x" : [ 1.0e3 , -0.5, "\u00e9\ud83d\ude00" ] , "aps" : { } } "#, false),
            (#"{"\u0061ps":{"content-available":1.0,"sound":""}}"#, true), (#"{"content-available":1}"#, false),
        ])
    func derivation(_ body: String, _ isSilent: Bool) throws {
        let accepted = try check(message(body))
        #expect(accepted.pushType == (isSilent ? "background" : "alert"))
        #expect(accepted.priority == (isSilent ? 5 : 10))
        #expect(accepted.body == Array(body.utf8))
    }

    @Test(
        "a topic that cannot be meant by its push type is refused at once",
        arguments: [
            ("mdm", nil), ("alert", "com.example.app.push-type.liveactivity"), ("voip", "com.example.app.voip-ptt"),
            ("widgets", "com.example.app.push-type.controls"), ("background", "com.example.app.location-query"),
            (nil, "com.example.app.pushkit.fileprovider"),
        ] as [(String?, String?)])
    func topics(_ type: String?, _ topic: String?) throws {
        var refused = message(#"{"aps":{}}"#)
        (refused.pushType, refused.priority, refused.topic) = (type, 5, topic)
        #expect(code(refused) == .invalidField)
        var properties = message(#"{"text":"a"}"#)
        (properties.pushType, properties.topic) = (type, topic)
        guard type != nil else { return }
        #expect(throws: ServiceError.self) {
            try MessageCheck(now: now, dueAt: now, fillsCollapseID: true).accepted(properties, as: .template, id: id)
        }
    }

    @Test(
        "a topic with the suffix of its type, without one, or of an app that is called so, is taken",
        arguments: [
            ("liveactivity", "com.example.app.push-type.liveactivity"), ("liveactivity", "com.example.app"), ("voip", nil),
            ("voip", "com.example.app.voip"), ("alert", "com.example.voip"), ("complication", "com.example.voip"),
            ("mdm", "com.apple.mgmt.External.1234"),
        ] as [(String, String?)])
    func fittingTopics(_ type: String, _ topic: String?) throws {
        var taken = message(#"{"aps":{}}"#)
        (taken.pushType, taken.topic) = (type, topic)
        #expect(code(taken) == nil)
    }

    @Test(
        "a body that is not one JSON object is refused",
        arguments: [
            #"{"aps":[1]}"#, #"{"aps":1}"#, #"{"aps":null}"#, #"{"aps":{},"aps":{}}"#, #"{"aps":{},"\u0061ps":{}}"#,
            "{\"aps\":{\"alert\":\"a\u{1}b\"}}", "{\"aps\":{\"alert\":\"a\nb\"}}", #"{"a":"\ud83d"}"#, #"{"a":"\x"}"#,
            #"{"a":01}"#, #"{"a":1.}"#, #"{"a":+1}"#, #"{"a":tru}"#, #"{"a":1,}"#, #"{"a":[1,]}"#, #"{"a" 1}"#, "\u{FEFF}{}",
            #"{"aps":{"alert":"a","alert":"b"}}"#, "", "[]", "1", "null", "\"text\"", "{", #"{"aps":}"#, "{} {}", "{'a':1}",
            #"{"a":"# + String(repeating: "[", count: 2000), "\u{0}",
        ])
    func malformed(_ body: String) {
        #expect(code(message(body)) == .malformedJSON)
    }

    @Test(
        "a body that is no JSON says where",
        arguments: [
            (#"{"aps":{"alert":"a"},"aps":{}}"#, 28), (#"{"aps":7}"#, 8), ("[]", 1), ("{} x", 4), (#"{"a":"b"#, 6),
            (#"{"a":b}"#, 6),
        ])
    func places(_ body: String, _ byte: Int) {
        #expect { try check(message(body)) } throws: { "\(($0 as? ServiceError)?.detail ?? "")".hasSuffix("(at byte \(byte))") }
    }

    @Test("bytes that are not UTF-8 are refused with their place, UTF-16 too")
    func encodings() {
        func around(_ bytes: [UInt8]) -> [UInt8] { Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8) }
        let wide: [UInt8] = [UInt8(ascii: "{"), 0, UInt8(ascii: "}"), 0]
        let bodies: [([UInt8], Int)] = [(around([0xFF]), 7), ([0xFF, 0xFE] + wide, 1), (around([0xED, 0xA0, 0x80]), 7)]
        for (body, byte) in bodies {
            #expect { try check(PushMessage(body: body)) } throws: { error in
                guard let error = error as? ServiceError else { return false }
                return error.code == .malformedJSON && error.detail?.hasSuffix("is not UTF-8 (at byte \(byte))") == true
            }
        }
        #expect(code(PushMessage(body: wide)) == .malformedJSON)
    }

    @Test("a body may have what a hub takes; what APNs does not carry, 4096 bytes and for voip 5120, goes to no device")
    func size() throws {
        func sized(_ bytes: Int, _ type: String? = nil) -> PushMessage {
            let frame = #"{"a":""}"#.utf8.count
            return PushMessage(body: Array(#"{"a":"\#(String(repeating: "x", count: bytes - frame))"}"#.utf8), pushType: type)
        }
        #expect(try !check(sized(4096)).isTooLarge && check(sized(4097)).isTooLarge)
        #expect(try !check(sized(5120, "voip")).isTooLarge && check(sized(5121, "voip")).isTooLarge)
        #expect(try check(sized(65_536)).isTooLarge && code(sized(65_537)) == .payloadTooLarge)
        #expect(code(sized(10_000_000)) == .payloadTooLarge)
        var narrow = MessageCheck(now: now, dueAt: now, fillsCollapseID: true)
        narrow.limits.bodyBytes = 100
        #expect(throws: ServiceError.self) { try narrow.accepted(sized(101), id: id) }
        #expect(try !narrow.accepted(sized(100), id: id).isTooLarge)
    }

    @Test("push type and priority must go together")
    func headers() {
        func with(_ type: String?, _ priority: Int?) -> PushMessage {
            let body = type == "background" ? #"{"aps":{"content-available":1}}"# : "{}"
            return PushMessage(body: Array(body.utf8), pushType: type, priority: priority)
        }
        #expect(code(with("background", 10)) == .invalidField)
        #expect(code(with("background", 5)) == nil)
        #expect(code(with("background", 1)) == nil)
        #expect(code(with("alert", 10)) == nil)
        #expect(code(with("alert", 5)) == nil)
        #expect(code(with("nonsense", nil)) == .invalidField)
        #expect(code(with(nil, 7)) == .invalidField)
        var silent = message(#"{"aps":{"content-available":1}}"#)
        silent.priority = 7
        #expect(code(silent) == .invalidField)
        // Who names no type did not choose the type that forbids it.
        silent.priority = 10
        #expect(code(silent) == nil)
    }

    @Test(
        "a push that is called background is passed on with whatever Azure's service passes on, but for one with an alert",
        arguments: [
            (#"{"aps":{"content-available":1}}"#, true), (#"{"aps":{"content-available":1,"sound":""}}"#, true),
            (#"{"aps":{"content-available":1,"alert":"x"}}"#, false), (#"{"aps":{"content-available":1,"badge":3}}"#, true),
            (#"{"aps":{"content-available":1,"sound":"x"}}"#, true), (#"{"aps":{"alert":{"title":"x"}}}"#, false),
            (#"{"aps":{"content-available":"1"}}"#, true), ("{}", true),
        ])
    func background(_ body: String, _ isTaken: Bool) {
        var message = message(body)
        message.pushType = "background"
        #expect(code(message) == (isTaken ? nil : .invalidField))
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
