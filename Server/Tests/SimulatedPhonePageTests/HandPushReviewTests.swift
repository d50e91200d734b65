import Testing

@testable import SimulatedPhonePage

@Suite("What is said of a push before it is sent")
struct HandPushReviewTests {
    private static let good = #"{"aps":{"alert":{"title":"a","body":"b"}}}"#

    private func findings(_ push: HandPush) -> [PushFinding] { HandPushReview(push: push, bundleID: "org.example.app").findings }

    @Test(
        "nothing is said of a push that is right",
        arguments: [
            HandPush(payload: good), HandPush(priority: 10, topic: "org.example.app", expiration: 0, payload: good),
            HandPush(pushType: "background", priority: 5, payload: #"{"aps":{"content-available":1},"x":[1]}"#),
            HandPush(collapseId: String(repeating: "c", count: 64), payload: #"{"aps":{"alert":"text","badge":0}}"#),
            HandPush(pushType: "voip", payload: #"{"aps":{}}"#),
            HandPush(payload: #"{"aps":{"alert":"a","mutable-content":1,"category":"c","thread-id":"t"},"richId":"7"}"#),
        ])
    func right(push: HandPush) {
        #expect(findings(push) == [])
    }

    @Test(
        "each header is held against its rule",
        arguments: [
            (HandPush(pushType: "alarm", payload: good), "pushType"), (HandPush(priority: 7, payload: good), "priority"),
            (HandPush(topic: "", payload: good), "topic"), (HandPush(topic: "org.example.other", payload: good), "topic"),
            (HandPush(pushType: "voip", topic: "org.example.app", payload: #"{"aps":{}}"#), "topic"),
            (HandPush(expiration: -1, payload: good), "expiration"), (HandPush(collapseId: "", payload: good), "collapseId"),
            (HandPush(collapseId: String(repeating: "é", count: 33), payload: good), "collapseId"),
            (HandPush(apnsId: "7", payload: good), "apnsId"),
            (HandPush(pushType: "background", priority: 10, payload: #"{"aps":{"content-available":1}}"#), "priority"),
        ])
    func headers(push: HandPush, field: String) {
        #expect(findings(push).map(\.field) == [field])
        #expect(findings(push).map(\.severity) == [.error])
    }

    @Test("a background push without a priority is advised of one")
    func backgroundPriority() {
        let found = findings(HandPush(pushType: "background", payload: #"{"aps":{"content-available":1}}"#))
        #expect(found.map(\.severity) == [.advice])
        #expect(found.map(\.field) == ["priority"])
    }

    @Test(
        "what is not JSON is found at its line and column",
        arguments: [
            ("{", 1, 2), ("{\n  \"aps\": {\n    \"alert\" \"x\"\n  }\n}", 3, 13), ("{\"a\":1,}", 1, 8),
            ("{\"ü\":\n tru}", 2, 5), ("{\"a\":1}\n\nx", 3, 1), ("{\"a\":1,\"a\":2", 1, 11), ("[1, 2", 1, 6),
            ("{\r\n\"a\": 01}", 2, 7), (String(repeating: "[", count: 513) + String(repeating: "]", count: 513), 1, 513),
        ])
    func syntax(payload: String, line: Int, column: Int) throws {
        let found = findings(HandPush(payload: payload))
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.severity == .error)
        #expect(finding.message.hasPrefix("APNs carries it, but no phone can read it: "))
        #expect([finding.line, finding.column] == [line, column])
    }

    @Test(
        "what a phone shows all the same is no error: a number of any size, a name twice, deep nesting",
        arguments: [
            (#""orderId":12345678901234567890"#, "field 'orderId': the number is out of range", nil),
            (#""x":[{"big":1e400}]"#, "the number is out of range", nil),
            ("\n\"a\":1,\n\"a\":2", "an object has the same name twice", 3),
            (#""deep":"# + String(repeating: "[", count: 511) + String(repeating: "]", count: 511), "more than 64 deep", nil),
        ])
    func readable(member: String, message: String, line: Int?) throws {
        let body = "{\"aps\":{\"alert\":\"a\"}," + member + "}"
        let found = findings(HandPush(payload: body))
        #expect(found.map(\.severity) == [.advice])
        #expect(try #require(found.first).message.contains(message) && found.first?.line == line)
        #expect(findings(HandPush(payload: body + "}")).first?.severity == .error)
    }

    @Test("a number of any size does not prevent the other checks")
    func besideNumber() {
        let found = findings(HandPush(payload: #"{"aps":{"alert":"a","badge":"2"},"x":12345678901234567890}"#))
        #expect(found.contains { $0.message.contains("'badge' is a number") })
    }

    @Test("a body that is no object, empty or too long is an error that says so")
    func bodies() {
        #expect(findings(HandPush(payload: "[1]")).map(\.message) == ["The body is a list; it must be an object."])
        #expect(findings(HandPush(payload: "")).map(\.message) == ["The body is empty, which APNs refuses."])
        func filled(_ size: Int) -> String {
            let frame = #"{"aps":{"alert":""}}"#
            return #"{"aps":{"alert":""# + String(repeating: "x", count: size - frame.utf8.count) + #""}}"#
        }
        #expect(findings(HandPush(payload: filled(4_096))) == [])
        let tooLong = findings(HandPush(payload: filled(4_097))).map(\.message)
        #expect(tooLong == ["The body has 4097 bytes; APNs takes 4096 for this type."])
        #expect(findings(HandPush(pushType: "voip", payload: filled(5_120))).allSatisfy { $0.severity == .advice })
        #expect(findings(HandPush(pushType: "voip", payload: filled(5_121))).contains { $0.severity == .error })
    }

    @Test(
        "what a phone would pass over is advised of, with the key and its place",
        arguments: [
            (#"{"x":1}"#, "There is no 'aps'"), (#"{"alert":"a"}"#, "'alert' belongs into"), (#"{"aps":[]}"#, "'aps' is a list"),
            (#"{"aps":{"alert":"a","mutable_content":1}}"#, "'mutable-content' is probably meant"),
            (#"{"aps":{"alert":"a","contentAvailable":1}}"#, "'content-available' is probably meant"),
            (#"{"aps":{"alert":"a","richId":"7"}}"#, "the app's own keys go beside 'aps'"),
            (#"{"aps":{"alert":"a","mutable-content":true}}"#, "must be the number 1, and this is true"),
            (#"{"aps":{"alert":"a","mutable-content":2}}"#, "must be the number 1, and this is another one"),
            (#"{"aps":{"alert":"a","badge":"2"}}"#, "'badge' is a number"),
            (#"{"aps":{"alert":"a","badge":1.5}}"#, "whole number"),
            (#"{"aps":{"alert":5,"sound":"x"}}"#, "'alert' is an object with title and body"),
            (#"{"aps":{"alert":"a","thread-id":7}}"#, "'thread-id' is a text"),
            (#"{"aps":{"alert":"a","interruption-level":"loud"}}"#, "time-sensitive"),
            (#"{"aps":{"badge":1,"mutable-content":1}}"#, "starts the service extension for an alert only"),
            (#"{"aps":{}}"#, "There is nothing to show"),
            (#"{"aps":{"alert":{"loc-key":"NO_KEY"}}}"#, "'loc-key' names a text in the app"),
            (#"{"aps":{"content-available":1}}"#, "It is a background push"),
            (#"{"aps":{"alert":"a"},"Simulator Target Bundle":"x"}"#, "is for Xcode's simulator"),
        ])
    func advice(payload: String, message: String) {
        let found = findings(HandPush(payload: payload))
        #expect(found.contains { $0.message.contains(message) && $0.severity == .advice })
        #expect(found.allSatisfy { $0.severity == .advice })
    }

    @Test(
        "what the app would not understand of a rich push is advised of, with the key and its place",
        arguments: [
            (#""richId":7"#, "'richId' is a number, and a server of Clarion's sends a text: \"7\""),
            (#""richId":0"#, "'richId' is a number that names no notification"),
            (#""richId":7.5"#, "'richId' is a number that names no notification"),
            (#""richId":2147483648"#, "'richId' is a number that names no notification"),
            (#""richId":"07""#, "'richId' is '07' and names no notification"),
            (#""richId":[7]"#, "'richId' is a list and names no notification"),
            (#""richType":"img""#, "There is no 'richId'"), (#""richIdd":"7""#, "There is no 'richId'"),
            (#""richId":"7","richType":"imgg""#, "'richType' is 'imgg', which this app does not know"),
            (#""richId":"7","richType":3"#, "'richType' is a number"),
            (#""richId":"7","richMessage":{}"#, "'richMessage' is an object"),
            (#""richId":"7","richFro":"27e90420f33712e2""#, "'richFro' is no key that the app knows; 'richFor'"),
            (#""richID":"7""#, "'richID' is no key that the app knows; 'richId'"),
            (#""richId":"7","rich_type":"img""#, "'rich_type' is no key that the app knows; 'richType'"),
            (#""richId":"7","richTpye":"img""#, "'richTpye' is no key that the app knows; 'richType'"),
            (#""richId":"7","richPicture":"x""#, "'richPicture' is no key that the app knows, which are richId"),
        ])
    func richKeys(members: String, message: String) throws {
        let found = findings(HandPush(payload: "{\"aps\":{\"alert\":\"a\"},\n" + members + "}"))
        let finding = try #require(found.first { $0.message.hasPrefix(message) }, "\(found)")
        #expect(found.allSatisfy { $0.severity == .advice })
        #expect(finding.line == (message.hasPrefix("There") ? nil : 2))
    }

    @Test(
        "an app's own keys are its own",
        arguments: ["title", "id", "type", "message", "route", "enrich", String(repeating: "r", count: 99)])
    func ownKeys(key: String) {
        #expect(findings(HandPush(payload: "{\"aps\":{\"alert\":\"a\"},\"richId\":\"7\",\"\(key)\":1}")) == [])
    }

    @Test("a background push with something visible in it is advised of each")
    func backgroundContent() {
        let found = findings(HandPush(pushType: "background", priority: 5, payload: "{\n\"aps\":{\n\"alert\":\"a\"}}"))
        #expect(found.map(\.message.first) == ["A", "'"])
        #expect(found.map(\.line) == [nil, 3])
    }

    @Test(
        "the mark of the recipient has 16 digits, or the app ignores it", arguments: [#""27E90420F33712E2""#, "7", #""alice""#])
    func subject(_ value: String) throws {
        let rest = #""aps":{"alert":"a"},"richId":"7"}"#
        let found = findings(HandPush(payload: "{\"richFor\":\(value)," + rest))
        #expect(found.map(\.severity) == [.advice])
        #expect(try #require(found.first).message.hasPrefix("'richFor' is 16 digits"))
        #expect(findings(HandPush(payload: #"{"richFor":"27e90420f33712e2","# + rest)) == [])
    }
}
