import Foundation
import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("The fields of a message")
struct MessageFieldTests {
    @Test(
        "a wrong field is named by its path",
        arguments: [
            (#""data":{"a":"b","c":1}"#, FCMRule.fieldType, "message.data[1].value"),
            (#""data":{"a":"b","googleX":"1"}"#, .dataKeyPrefix, "message.data[1].key"),
            (#""android":{"data":{"message_type":"x"}}"#, .dataKeyReserved, "message.android.data[0].key"),
            (#""webpush":{"data":{"from":"x"}}"#, .dataKeyReserved, "message.webpush.data[0].key"),
            (#""android":{"ttl":"-1s"}"#, .ttlRange, "message.android.ttl"),
            (#""android":{"ttl":3}"#, .fieldType, "message.android.ttl"),
            (#""android_v2":{"ttl":"3"}"#, .durationForm, "message.android_v2.ttl"),
            (
                #""android":{"notification":{"vibrate_timings":["1s","x"]}}"#, .durationForm,
                "message.android.notification.vibrate_timings[1]"
            ),
            (#""android":{"notification":{"bodyLocArgs":["1",2]}}"#, .fieldType, "message.android.notification.body_loc_args[1]"),
            (
                #""android":{"notification":{"notification_count":1.5}}"#, .fieldType,
                "message.android.notification.notification_count"
            ),
            (
                #""android":{"notification":{"notification_count":2147483648}}"#, .fieldType,
                "message.android.notification.notification_count"
            ),
            (#""android":{"notification":{"sticky":"true"}}"#, .fieldType, "message.android.notification.sticky"),
            (#""android":{"notification":{"visibility":"HIDDEN"}}"#, .enumValue, "message.android.notification.visibility"),
            (#""android":{"notification":{"proxy":4}}"#, .enumValue, "message.android.notification.proxy"),
            (#""android":{"notification":{"image":"https://"}}"#, .imageURL, "message.android.notification.image"),
            (
                #""android":{"fcm_options":{"analytics_label":""}}"#, .analyticsLabel,
                "message.android.fcm_options.analytics_label"
            ),
            (#""android":{"notifications":{}}"#, .unknownField, "message.android"),
            (#""apns":{"headers":{"apns-priority":10}}"#, .fieldType, "message.apns.headers[0].value"),
            (#""apns":{"headers":{"apns-topic":"x","x-y":"z"}}"#, .apnsHeaderName, "message.apns.headers[1].key"),
            (#""apns":{"payload":[]}"#, .fieldType, "message.apns.payload"),
            (#""apns":{"fcm_options":{"image":"ftp://x/y"}}"#, .imageURL, "message.apns.fcm_options.image"),
            (#""webpush":{"notification":"x"}"#, .fieldType, "message.webpush.notification"),
            (
                #""webpush":{"fcm_options":{"analytics_label":"ä"}}"#, .analyticsLabel,
                "message.webpush.fcm_options.analytics_label"
            ),
            (#""notification":[]"#, .fieldType, "message.notification"),
            (#""android":{"priority":"high","priority":"high"}"#, .duplicateField, "message.android"),
            (#""android":{"collapse_key":"a","collapseKey":"b"}"#, .duplicateField, "message.android"),
            (#""data":{"a":"1","a":"2"}"#, .duplicateField, "message.data[1].key"),
        ] as [(String, FCMRule, String)])
    func paths(members: String, rule: FCMRule, path: String) throws {
        let fixture = try FCMFixture()
        let violations = fixture.violations(of: fixture.send(members))
        #expect(violations.map(\.rule) == [rule])
        #expect(violations.first?.field == path)
    }

    @Test(
        "good values at the edges are accepted",
        arguments: [
            #""android":{"ttl":"0s"}"#, #""android":{"ttl":"2419200s"}"#, #""android":{"ttl":"3.000000001s"}"#,
            #""android":{"priority":"high"}"#, #""android":{"priority":1}"#, #""android":{"priority":null,"data":null}"#,
            #""android":{"notification":{"notificationCount":"3"}}"#, ##""android":{"notification":{"color":"#AbCdEf"}}"##,
            #""android":{"notification":{"eventTime":"2027-01-15T08:00:00.123456Z"}}"#,
            #""android":{"notification":{"event_time":"2027-01-15T08:00:00+01:00"}}"#,
            #""fcmOptions":{"analyticsLabel":"\#(String(repeating: "~", count: 50))"}"#,
            #""androidV2":{"ttl":"3s","backgroundSync":{"x":1},"remoteNotification":{"mutable_content":true}}"#,
            #""webpush":{"headers":{"TTL":"0","urgency":"very-low","Topic":"a_b-c","X-Own":"?"},"notification":{"vibrate":[1]}}"#,
            #""apns":{"headers":{"apns-priority":"5","apns-expiration":"0","apns-collapse-id":"a"},"payload":{"aps":{"alert":"x"},"y":null}}"#,
            #""data":{"collapse_key":"x","notification":"y","Google":"z"}"#, #""name":"projects/x/messages/y""#,
        ])
    func edges(members: String) throws {
        let fixture = try FCMFixture()
        #expect(fixture.violations(of: fixture.send(members)) == [])
    }

    @Test("all that the reader of JSON has to say stands in one answer")
    func together() throws {
        var fixture = try FCMFixture()
        let answer = fixture.post(fixture.send(#""android":{"ttl":"x","priority":"no"},"to":1"#)).answer
        let details = FCMFixture.members(answer.body)["error"]?["details"]?.asList ?? []
        let fields = details.first?["fieldViolations"]?.asList.compactMap { $0["field"]?.asText }
        #expect(fields == ["message.android.ttl", "message.android.priority", "message"])
        #expect(details.count == 1, "the reader of JSON knows nothing of FCM")
    }

    @Test("the sentences of Google's reader name the value")
    func sentences() throws {
        let fixture = try FCMFixture()
        func text(_ members: String) -> String? { fixture.violations(of: fixture.send(members)).first?.text }
        #expect(text(#""data":{"a":12}"#) == "Invalid value at 'message.data[0].value' (TYPE_STRING), 12")
        #expect(
            text(#""to":"x""#) == "Invalid JSON payload received. Unknown name \"to\" at 'message': Cannot find field.")
        #expect(
            text(#""topic":"news""#)
                == "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'topic'")
    }

    @Test("bytes are counted as the data for Android with the notification, up to 4096")
    func size() throws {
        let fixture = try FCMFixture()
        func rules(_ count: Int, _ members: String) -> [FCMRule] {
            fixture.broken(by: fixture.send(members.replacing("X", with: String(repeating: "x", count: count))))
        }
        #expect(rules(4_095, #""data":{"a":"X"}"#) == [])
        #expect(rules(4_096, #""data":{"a":"X"}"#) == [.messageSize])
        #expect(rules(4_096, #""data":{"a":"X"},"android":{"data":{"a":"b"}}"#) == [], "the data for Android take their place")
        #expect(rules(4_091, #""notification":{"title":"X"}"#) == [])
        #expect(rules(4_091, #""notification":{"title":"X"},"data":{"a":""}"#) == [.messageSize])
        #expect(rules(4_095, #""android":{"notification":{"body":"X"}}"#) == [.messageSize])
    }

    @Test("without what JSON needs nothing else is judged", arguments: ["", "{", "{\"message\":{}} x", "\u{7B}\"a\":\"\u{1}\"}"])
    func noJSON(body: String) throws {
        let fixture = try FCMFixture()
        #expect(fixture.broken(by: fixture.request(body)) == [.json])
    }
}

@Suite("Conditions over topics")
struct TopicConditionTests {
    @Test(
        "who gets a message follows from the topics",
        arguments: [
            ("'a' in topics", ["a"], true), ("'a' in topics", ["b"], false), ("!('a' in topics)", ["b"], true),
            ("'a' in topics && 'b' in topics", ["a"], false), ("'a' in topics && 'b' in topics", ["a", "b"], true),
            ("'a' in topics || 'b' in topics && 'c' in topics", ["a"], true),
            ("('a' in topics || 'b' in topics) && 'c' in topics", ["a"], false),
            ("!'a' in topics", [], true), ("\"a\" in topics", ["a"], true), ("  'a'   in topics  ", ["a"], true),
        ] as [(String, [String], Bool)])
    func matches(text: String, topics: [String], isMatch: Bool) throws {
        #expect(try #require(TopicCondition(text)).matches(Set(topics)) == isMatch)
    }

    @Test(
        "other texts are no conditions",
        arguments: [
            "", "a in topics", "'a'", "'a' in topic", "'a' in topics &", "'a' in topics && ", "('a' in topics", "'a' in topics)",
            "'a b' in topics", "'a in topics", "topics", "'' in topics", String(repeating: "(", count: 30) + "'a' in topics",
        ])
    func malformed(text: String) { #expect(TopicCondition(text) == nil) }

    @Test("topics are counted as often as they are named")
    func count() { #expect(TopicCondition("'a' in topics || 'a' in topics || 'b' in topics")?.topicCount == 3) }
}
