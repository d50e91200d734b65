import ClarionTesting
import FCMProtocol
import Foundation
import RichPushModel
import Testing
import WireText

@Suite("Messages for FCM")
struct FCMMessageTests {
    private static let fid = "cPVX3dJ0RUy_mYz1-Ab9Qe"

    private func body(_ text: String, for handle: String) throws -> String {
        String(decoding: try FCMMessage(Array(text.utf8)).body(for: Array(handle.utf8)[...]), as: UTF8.self)
    }

    private func fault(_ text: String) -> FCMMessageFault? {
        #expect(throws: FCMMessageFault.self) { try FCMMessage(Array(text.utf8)) }
    }

    private func message(_ members: String) -> String { #"{"message":{\#(members)}}"# }

    @Test("the target is put in front, and the rest stays as it came")
    func splice() throws {
        let text = #" { "validate_only" : true, "message" : { "data":{"a":"b"} } } "#
        let expected = #" { "validate_only" : true, "message" : {"token":"t:APA91b", "data":{"a":"b"} } } "#
        #expect(try body(text, for: "t:APA91b") == expected)
    }

    @Test("a message without members gets the target alone")
    func empty() throws { #expect(try body(message(""), for: "t") == #"{"message":{"token":"t"}}"#) }

    @Test("a target with letters that JSON escapes is escaped")
    func escapes() throws { #expect(try body(message(""), for: "a\"b\\c") == #"{"message":{"token":"a\"b\\c"}}"#) }

    @Test(
        "a device token names an installation id by its prefix or its form, and else is a registration token",
        arguments: [
            ("fid:anything", #""fid":"anything""#), (fid, #""fid":"\#(fid)""#), ("fid:\(fid)", #""fid":"\#(fid)""#),
            ("\(fid):APA91bHun4", #""token":"\#(fid):APA91bHun4""#),
            ("bPVX3dJ0RUy_mYz1-Ab9Qe", #""token":"bPVX3dJ0RUy_mYz1-Ab9Qe""#),
            ("\(fid)X", #""token":"\#(fid)X""#), ("cPVX3dJ0RUy_mYz1-Ab9Q", #""token":"cPVX3dJ0RUy_mYz1-Ab9Q""#),
            ("cPVX3dJ0RUy_mYz1.Ab9Qe", #""token":"cPVX3dJ0RUy_mYz1.Ab9Qe""#),
        ])
    func kinds(handle: String, member: String) throws {
        #expect(try body(message(""), for: handle) == #"{"message":{\#(member)}}"#)
    }

    @Test("whatever the message and the target are, the body parses and has both")
    func property() throws {
        var random = SeededGenerator()
        let seed = random.seed
        let letters = Array("ab \"\\/\u{7F}é漢🎉{}[],:\n\t")
        func text(_ most: Int) -> String {
            String((0..<Int.random(in: 1...most, using: &random)).map { _ in letters.randomElement(using: &random)! })
        }
        for _ in 0..<500 {
            let pairs = Dictionary(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in (text(6), text(20)) },
                uniquingKeysWith: { first, _ in first })
            let data = JSONText.object(pairs.map { ($0.key, JSONText.string($0.value)) })
            let blank = [" ", "", "\n"].randomElement(using: &random)!
            let source = "\(blank){\"message\"\(blank):\(blank){\(blank)\(pairs.isEmpty ? "" : "\"data\":\(data)")\(blank)}}"
            let target = text(40)
            let parsed = try #require(
                try JSONSerialization.jsonObject(with: Data(try body(source, for: "x" + target).utf8)) as? [String: Any],
                "seed \(seed)")
            let members = try #require(parsed["message"] as? [String: Any], "seed \(seed)")
            #expect(members["token"] as? String == "x" + target, "seed \(seed)")
            #expect(members["data"] as? [String: String] == (pairs.isEmpty ? nil : pairs), "seed \(seed)")
        }
    }

    @Test(
        "a body that is not one JSON object is refused",
        arguments: ["", "[]", "7", "{", "{}}", #"{"message":{}"#, #"{"message":{}} x"#, #"{"message":{"data":{"a":"\x"}}}"#])
    func noJSON(text: String) { #expect(fault(text)?.words == "is not one JSON object in UTF-8") }

    @Test("bytes that are not UTF-8 are refused where they stand")
    func notUTF8() {
        let fault = #expect(throws: FCMMessageFault.self) { try FCMMessage([UInt8(ascii: "{"), 0xFF]) }
        #expect(fault?.byte == 2)
    }

    @Test(
        "a body that names its target is refused, also by an escape",
        arguments: ["token", "fid", "topic", "condition", #"\u0074oken"#])
    func targets(name: String) {
        let fault = fault(message(#""\#(name)":"x""#))
        #expect(fault?.words == "names a target; the hub chooses the devices")
        #expect(fault?.path.hasPrefix("message.") == true)
    }

    @Test("a target that is null is refused as well, since the body would name it twice")
    func nullTarget() { #expect(fault(message(#""token":null"#))?.path == "message.token") }

    @Test(
        "each rule names the member that breaks it",
        arguments: [
            (#"{}"#, "message"), (#"{"message":7}"#, "message"), (#"{"messages":{}}"#, "messages"),
            (#"{"validate_only":"yes","message":{}}"#, "validate_only"), (#"{"message":{},"message":{}}"#, "message"),
            (#"{"message":{"data":{"a":1}}}"#, "message.data.a"), (#"{"message":{"data":{"a":null}}}"#, "message.data.a"),
            (#"{"message":{"data":["a"]}}"#, "message.data"), (#"{"message":{"data":{"a":"1","a":"2"}}}"#, "message.data.a"),
            (#"{"message":{"android":{"data":{"a":true}}}}"#, "message.android.data.a"),
            (#"{"message":{"android":[]}}"#, "message.android"),
            (#"{"message":{"notification":"text"}}"#, "message.notification"),
        ])
    func paths(text: String, path: String) { #expect(fault(text)?.path == path) }

    @Test(
        "reserved keys are refused in both places for data",
        arguments: ["from", "message_type", "google", "google.c.a", "gcm", "gcm.notification.title"])
    func reserved(key: String) {
        #expect(fault(message(#""data":{"\#(key)":"x"}"#))?.words == "is a name that FCM reserves")
        #expect(fault(message(#""android":{"data":{"\#(key)":"x"}}"#))?.words == "is a name that FCM reserves")
    }

    @Test(
        "keys that only look reserved are taken", arguments: ["From", "froms", "message_types", "collapse_key", "notification"])
    func free(key: String) throws { _ = try body(message(#""data":{"\#(key)":"x"}"#), for: "t") }

    @Test("a fault says at which byte it was noticed")
    func place() throws {
        let found = try #require(fault(#"{"message":{"data":{"a":1}}}"#))
        #expect(found.byte == 25)
        #expect("\(found)" == "message.data.a is not a text in quotes (at byte 25)")
    }

    @Test(
        "a life of whole and broken seconds up to four weeks is taken",
        arguments: ["0s", "3.5s", "0.000000001s", "2419200s", "2419200.0s"])
    func lives(life: String) throws { _ = try body(message(#""android":{"ttl":"\#(life)"}"#), for: "t") }

    @Test(
        "any other life is refused",
        arguments: [
            #""""#, #""s""#, #""60""#, #""-1s""#, #""1.s""#, #"".5s""#, #""1.1234567890s""#, #""1m""#, #""2419201s""#,
            #""2419200.1s""#, "60",
            #""1e3s""#, #""1.2.3s""#,
        ])
    func wrongLives(life: String) { #expect(fault(message(#""android":{"ttl":\#(life)}"#))?.path == "message.android.ttl") }

    @Test("members that are null are absent")
    func null() throws { _ = try body(message(#""data":null,"android":{"ttl":null,"data":null},"notification":null"#), for: "t") }

    @Test("members that this version does not know inside a message are left to FCM")
    func unknown() throws { _ = try body(message(#""apns":{"payload":{"aps":{"x":[1,{"token":"a"}]}}},"new":[]"#), for: "t") }

    @Test("keys and values of data with the notification may have 4,096 bytes, and no more")
    func size() throws {
        func text(_ count: Int) -> String {
            message(#""data":{"k":"\#(String(repeating: "a", count: count))"},"notification":{"body":"é"}"#)
        }
        _ = try body(text(4_096 - 1 - 4 - 2), for: "t")
        let fault = fault(text(4_096 - 1 - 4 - 2 + 1))
        #expect(fault?.isTooLarge == true)
        #expect(fault?.words.contains("4097") == true)
    }

    @Test("an escape counts as the letter that it stands for")
    func escapedSize() throws {
        let escaped = String(repeating: #"\u0061"#, count: 4_095)
        _ = try body(message(#""data":{"k":"\#(escaped)"}"#), for: "t")
    }

    @Test("Android's own data and texts take the place of those for all platforms, whichever come first")
    func override() throws {
        let long = String(repeating: "a", count: 4_095)
        let (all, own) = (
            #""data":{"k":"\#(long)"},"notification":{"body":"\#(long)"}"#, #""data":{"k":""},"notification":{"body":""}"#
        )
        _ = try body(message(#"\#(all),"android":{\#(own)}"#), for: "t")
        _ = try body(message(#""android":{\#(own)},\#(all)"#), for: "t")
        #expect(fault(message(#""android":{\#(all)},\#(own)"#))?.isTooLarge == true)
    }

    @Test("no other fault is one of size")
    func notSize() { #expect(fault("{}")?.isTooLarge == false) }
}

@Suite("Messages of FCM's retired interface")
struct FCMLegacyMessageTests {
    private func translated(_ text: String) throws -> String {
        String(decoding: try FCMMessage(legacy: Array(text.utf8)).body(for: Array("t".utf8)[...]), as: UTF8.self)
    }

    private func fault(_ text: String) -> FCMMessageFault? {
        #expect(throws: FCMMessageFault.self) { try FCMMessage(legacy: Array(text.utf8)) }
    }

    @Test(
        "each member gets its place in the present interface",
        arguments: [
            ("{}", #"{"message":{"token":"t"}}"#),
            (#"{"data":{"a":"b"}}"#, #"{"message":{"token":"t","data":{"a":"b"}}}"#),
            (#"{"collapse_key":"k"}"#, #"{"message":{"token":"t","android":{"collapse_key":"k"}}}"#),
            (#"{"priority":"high"}"#, #"{"message":{"token":"t","android":{"priority":"HIGH"}}}"#),
            (#"{"priority":"normal"}"#, #"{"message":{"token":"t","android":{"priority":"NORMAL"}}}"#),
            (#"{"time_to_live":0}"#, #"{"message":{"token":"t","android":{"ttl":"0s"}}}"#),
            (#"{"restricted_package_name":"a.b"}"#, #"{"message":{"token":"t","android":{"restricted_package_name":"a.b"}}}"#),
            (#"{"direct_boot_ok":true}"#, #"{"message":{"token":"t","android":{"direct_boot_ok":true}}}"#),
            (#"{"dry_run":true}"#, #"{"validate_only":true,"message":{"token":"t"}}"#),
            (#"{"delay_while_idle":true}"#, #"{"message":{"token":"t"}}"#),
            (
                #"{"notification":{"title":"T","body":"B","image":"https://a.example/i"}}"#,
                #"{"message":{"token":"t","notification":{"title":"T","body":"B","image":"https://a.example/i"}}}"#
            ),
            (
                #"{"notification":{"android_channel_id":"c","icon":"i","body_loc_key":"k","body_loc_args":["a"]},"priority":"high"}"#,
                """
                {"message":{"token":"t","android":{"priority":"HIGH",\
                "notification":{"channel_id":"c","icon":"i","body_loc_key":"k","body_loc_args":["a"]}}}}
                """
            ),
        ])
    func places(legacy: String, present: String) throws { #expect(try translated(legacy) == present) }

    @Test("numbers and truth values in data become texts, as the retired interface made them")
    func values() throws {
        #expect(try translated(#"{"data":{"n":1.50,"t":true}}"#) == #"{"message":{"token":"t","data":{"n":"1.50","t":"true"}}}"#)
    }

    @Test("recipients are refused", arguments: ["to", "registration_ids", "condition", "notification_key"])
    func recipients(name: String) { #expect(fault(#"{"\#(name)":"x"}"#)?.words == "names a target; the hub chooses the devices") }

    @Test(
        "what has no counterpart is refused by name",
        arguments: [
            (#"{"content_available":true}"#, "content_available"), (#"{"mutable_content":true}"#, "mutable_content"),
            (#"{"message":{}}"#, "message"), (#"{"notification":{"badge":"1"}}"#, "notification.badge"),
            (#"{"notification":{"subtitle":"s"}}"#, "notification.subtitle"),
        ])
    func noCounterpart(text: String, path: String) {
        let fault = fault(text)
        #expect(fault?.path == path)
        #expect(fault?.words == "has no counterpart in FCM HTTP v1 for Android")
    }

    @Test(
        "a member of the wrong kind is refused by name",
        arguments: [
            (#"{"priority":"urgent"}"#, "priority"), (#"{"priority":10}"#, "priority"),
            (#"{"time_to_live":"60"}"#, "time_to_live"),
            (#"{"time_to_live":1.5}"#, "time_to_live"), (#"{"time_to_live":2419201}"#, "time_to_live"), (#"{"data":[]}"#, "data"),
            (#"{"data":{"a":{}}}"#, "data.a"), (#"{"notification":{"title":7}}"#, "notification.title"),
            (#"{"notification":{"body_loc_args":"a"}}"#, "notification.body_loc_args"), (#"{"dry_run":"yes"}"#, "dry_run"),
        ])
    func wrong(text: String, path: String) { #expect(fault(text)?.path == path) }

    @Test("a rule of the present interface is named without a place in a text that the sender never saw")
    func presentRule() {
        let fault = fault(#"{"data":{"from":"x"}}"#)
        #expect(fault?.path == "message.data.from")
        #expect(fault?.byte == nil)
    }

    @Test("what follows the object is refused")
    func trailing() { #expect(fault("{} {}")?.words == "is not one JSON object in UTF-8") }
}
