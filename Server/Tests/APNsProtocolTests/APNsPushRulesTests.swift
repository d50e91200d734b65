import APNsProtocol
import Testing

@Suite("Rules before sending")
struct APNsPushRulesTests {
    private static let token = String(repeating: "0123456789abcdefABCDEF0123456789", count: 2)

    private static func push(
        token: String = token, type: APNsPushType = .alert, topic: String = "com.example.app", priority: Int? = 10,
        expiration: Int64? = nil, collapseID: String? = nil, payload: String = #"{"aps":{"alert":"Hello"}}"#
    ) -> APNsPush {
        APNsPush(
            deviceToken: token,
            headers: APNsPush.Headers(
                topic: topic, pushType: type, priority: priority, expiration: expiration, collapseID: collapseID),
            payload: Array(payload.utf8))
    }

    private static func background(_ payload: String, priority: Int? = 5) -> APNsPush {
        push(type: .background, priority: priority, payload: payload)
    }

    @Test("a token of digits passes, and one wrong byte at any place does not", arguments: [2, 8, 14, 16, 30, 64, 66])
    func everyDigit(length: Int) throws {
        let digits = Array("0123456789abcdefABCDEF".utf8)
        for byte in UInt8(0)...0x7F {
            for place in 0..<length {
                var token = (0..<length).map { digits[$0 % digits.count] }
                token[place] = byte
                let push = Self.push(token: String(decoding: token, as: UTF8.self))
                var fault: APNsPushFault?
                do throws(APNsPushFault) { try APNsPushRules.check(push, .apple) } catch { fault = error }
                #expect(fault == (digits.contains(byte) ? nil : .malformedDeviceToken), "\(byte) at \(place)")
            }
        }
        let foreign = Self.push(token: String(repeating: "ab", count: length / 2 - 1) + "é")
        #expect(throws: APNsPushFault.malformedDeviceToken) { try APNsPushRules.check(foreign, .apple) }
    }

    @Test(
        "what APNs takes passes",
        arguments: [
            push(), push(token: "AB"), push(token: String(repeating: "ab", count: 80)), push(priority: nil), push(priority: 1),
            push(expiration: 0), push(expiration: 4_000_000_000), push(collapseID: String(repeating: "é", count: 32)),
            push(payload: "{}"), push(type: .voip, topic: "com.example.app.voip", payload: String(repeating: "x", count: 5120)),
            push(payload: String(repeating: "x", count: 4096)), push(type: .mdm, topic: "com.apple.mgmt.External.x"),
            background(#"{"aps":{"content-available":1}}"#),
            background(#"{"aps":{"content-available":1,"sound":""},"richId":"7"}"#),
        ])
    func accepted(push: APNsPush) throws {
        var rules = APNsPushRules()
        try rules.check(push)
        try rules.check(push)
    }

    @Test(
        "what APNs refuses is refused before",
        arguments: [
            (push(token: ""), APNsPushFault.missingDeviceToken, 400),
            (push(token: "abc"), .malformedDeviceToken, 400),
            (push(token: "xy"), .malformedDeviceToken, 400),
            (push(token: String(repeating: "a", count: 402)), .malformedDeviceToken, 400),
            (push(topic: ""), .missingTopic, 400),
            (push(topic: "com.example\r\napns-id: 1"), .malformedTopic, 400),
            (push(topic: "com.exämple"), .malformedTopic, 400),
            (push(topic: String(repeating: "a", count: 256)), .malformedTopic, 400),
            (push(type: .voip), .topicWithoutSuffix(".voip"), 400),
            (push(type: APNsPushType(rawValue: "Bad Type")), .malformedPushType, 400),
            (push(priority: 7), .malformedPriority, 400),
            (push(expiration: -1), .malformedExpiration, 400),
            (push(collapseID: ""), .malformedCollapseID, 400),
            (push(collapseID: String(repeating: "é", count: 33)), .malformedCollapseID, 400),
            (push(collapseID: "a\nb"), .malformedCollapseID, 400),
            (push(payload: ""), .emptyPayload, 400),
            (push(payload: String(repeating: "x", count: 4097)), .payloadTooLarge(size: 4097, limit: 4096), 413),
            (background(#"{"aps":{"content-available":1}}"#, priority: 10), .backgroundPriority, 400),
            (background(#"{"aps":{"content-available":1}}"#, priority: nil), .backgroundPriority, 400),
            (background(#"{"aps":{"content-available":1,"alert":"Hello"}}"#), .backgroundContent, 400),
            (background(#"{"aps":{"content-available":1,"badge":0}}"#), .backgroundContent, 400),
            (background(#"{"aps":{"alert":""}}"#), .backgroundContent, 400),
            (background("[1]"), .payloadNotJSON, 400),
        ])
    func refused(push: APNsPush, fault: APNsPushFault, status: Int) {
        var rules = APNsPushRules()
        #expect(throws: fault) { try rules.check(push) }
        #expect(throws: fault) { try rules.check(push) }
        #expect(fault.rejection.status == status)
    }

    @Test("the lenient form still refuses what a header cannot carry")
    func wireOnly() throws {
        try APNsPushRules.check(Self.background(#"{"aps":{"content-available":1,"badge":3}}"#), .appleHeaders)
        #expect(throws: APNsPushFault.backgroundPriority) {
            var push = Self.background("{}")
            push.headers.priority = 10
            try APNsPushRules.check(push, .appleHeaders)
        }
        var rules = APNsPushRules(strictness: .wireOnly)
        try rules.check(Self.push(type: APNsPushType(rawValue: "hologram"), priority: 3, payload: "no JSON"))
        try rules.check(Self.background(#"{"aps":{"alert":"Hello"}}"#, priority: 10))
        #expect(throws: APNsPushFault.malformedTopic) { try rules.check(Self.push(topic: "a b")) }
        #expect(throws: APNsPushFault.malformedDeviceToken) { try rules.check(Self.push(token: "../x")) }
    }

    @Test("a good push after a bad one, and a bad after a good one, are distinguished")
    func memory() throws {
        var rules = APNsPushRules()
        try rules.check(Self.background(#"{"aps":{"content-available":1}}"#))
        #expect(throws: APNsPushFault.backgroundContent) { try rules.check(Self.background(#"{"aps":{"badge":1}}"#)) }
        try rules.check(Self.background(#"{"aps":{"content-available":1}}"#))
        #expect(throws: APNsPushFault.malformedPriority) { try rules.check(Self.push(priority: 2)) }
        try rules.check(Self.background(#"{"aps":{"content-available":1}}"#))
    }
}
