import Foundation
import RichPushModel
import Testing

@testable import WebPushEmulation

@Suite("What a browser may say")
struct BrowserProtocolTests {
    private static let hello = #"{"messageType":"hello","use_webpush":true}"#

    @Test("hello is answered with an id of 32 hexadecimal digits, which differs for each browser")
    func hello() {
        var fixture = PushServiceFixture()
        let (first, second) = (fixture.connect(), fixture.connect())
        #expect(PushText.isUserID(first.uaid))
        #expect(first.uaid != second.uaid)
    }

    @Test("the answer to hello has what Firefox needs")
    func helloMembers() {
        var fixture = PushServiceFixture()
        let connection = fixture.state.open()
        let members = PushServiceFixture.members(fixture.say(Self.hello, on: connection)[0])
        #expect(members["status"] == .integer(200))
        #expect(members["use_webpush"] == .flag(true))
        #expect(members["broadcasts"] == .object([:]))
    }

    @Test(
        "an id that is not known or ill-formed is replaced",
        arguments: ["0123456789abcdef0123456789abcdef", "", "x", "01234567-89ab-cdef-0123-456789abcdef"])
    func unknownUser(uaid: String) {
        var fixture = PushServiceFixture()
        let answered = fixture.connect(uaid: uaid).uaid
        #expect(PushText.isUserID(answered))
        #expect(answered != uaid)
    }

    @Test("a browser with a subscription keeps its id, and one without is forgotten")
    func keptUser() {
        var fixture = PushServiceFixture()
        let subscribed = fixture.connect()
        _ = fixture.register(on: subscribed.connection)
        let other = fixture.connect()
        fixture.state.closed(subscribed.connection)
        fixture.state.closed(other.connection)
        #expect(fixture.connect(uaid: subscribed.uaid).uaid == subscribed.uaid)
        #expect(fixture.connect(uaid: other.uaid).uaid != other.uaid)
    }

    @Test(
        "what is against the protocol ends the connection",
        arguments: [
            "", "hello", "[]", #"{"messageType":"hello"}"#, #"{"messageType":"hello","use_webpush":true}"#,
            #"{"messageType":"shout"}"#, #"{"messageType":1}"#, #"{"channelID":"x"}"#,
            #"{"messageType":"register","channelID":"00000000-0000-4000-8000-00000000000A"}"#,
            #"{"messageType":"register","channelID":"00000000000040008000000000000001"}"#,
            #"{"messageType":"unregister","channelID":"x"}"#, #"{"messageType":"ack"}"#,
            #"{"messageType":"ack","updates":[{"channelID":"x"}]}"#, #"{"messageType":"nack"}"#,
            #"{"messageType":"broadcast_subscribe"}"#,
        ])
    func badMessages(text: String) {
        var fixture = PushServiceFixture()
        let connection = fixture.connect().connection
        let actions = fixture.say(text, on: connection)
        guard case .close(let reason)? = actions.first else {
            Issue.record("\(text) was answered with \(actions)")
            return
        }
        #expect(reason.code == 1011)
        #expect(fixture.say("{}", on: connection).isEmpty, "what comes after is not heard")
    }

    @Test("nothing may come before hello", arguments: ["{}", #"{"messageType":"ping"}"#, #"{"messageType":"ack","updates":[]}"#])
    func beforeHello(text: String) {
        var fixture = PushServiceFixture()
        let connection = fixture.state.open()
        #expect(fixture.say(text, on: connection) == [.close(.badMessage)])
    }

    @Test("a browser that does not say hello in time is closed, and one that did is not")
    func helloDeadline() {
        var fixture = PushServiceFixture()
        let late = fixture.state.open()
        #expect(fixture.state.helloIsDue(late).map(\.action) == [.close(.noHello)])
        let early = fixture.connect().connection
        #expect(fixture.state.helloIsDue(early).isEmpty)
    }

    @Test("a subscription with a key has an endpoint of version 2, and asking again gives the same one")
    func register() {
        var fixture = PushServiceFixture()
        let connection = fixture.connect().connection
        let endpoint = fixture.register(on: connection)
        #expect(endpoint.hasPrefix(PushServiceFixture.origin + "/wpush/v2/"))
        #expect(fixture.register(on: connection) == endpoint)
        #expect(fixture.register(PushServiceFixture.channel(2), on: connection) != endpoint)
    }

    @Test("a key that is none is answered 400, another key for a channel 409, and too many channels 500")
    func refusedRegistrations() {
        var fixture = PushServiceFixture { $0.subscriptions = 1 }
        let connection = fixture.connect().connection
        func status(_ channel: Int, _ key: String) -> JSONValue? {
            let text = #"{"messageType":"register","channelID":"\#(PushServiceFixture.channel(channel))","key":\#(key)}"#
            return fixture.say(text, on: connection).first.map(PushServiceFixture.members)?["status"]
        }
        #expect(status(1, #""AAAA""#) == .integer(400))
        #expect(status(1, "7") == .integer(400))
        #expect(status(1, "\"\(fixture.sender.publicText)\"") == .integer(200))
        #expect(status(1, "\"\(TestSender().publicText)\"") == .integer(409))
        #expect(status(2, "\"\(fixture.sender.publicText)\"") == .integer(500))
    }

    @Test("unregister is answered, recorded with its code, and ends the endpoint")
    func unregister() {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        let text = #"{"messageType":"unregister","channelID":"\#(PushServiceFixture.channel(1))","code":202}"#
        for _ in 0..<2 {
            #expect(PushServiceFixture.members(fixture.say(text, on: connection)[0])["status"] == .integer(200))
        }
        #expect(fixture.state.recorder.reports.map(\.code) == [202])
        #expect(fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now)).answer?.status == 410)
    }

    @Test("a channel that was registered anew with another key has another endpoint, and the older one stays gone")
    func registeredAnew() {
        var fixture = PushServiceFixture()
        let connection = fixture.connect().connection
        let older = fixture.register(on: connection)
        _ = fixture.say(
            #"{"messageType":"unregister","channelID":"\#(PushServiceFixture.channel(1))"}"#, on: connection)
        let newer = fixture.register(on: connection, withKey: false)
        #expect(fixture.post(fixture.sender.request(older, now: fixture.clock.now)).answer?.status == 410)
        #expect(fixture.post(fixture.sender.request(newer, now: fixture.clock.now)).answer?.status == 201)
    }

    @Test("pings are answered, and less than 45 seconds apart they end the connection")
    func pings() {
        var fixture = PushServiceFixture()
        let connection = fixture.connect().connection
        #expect(fixture.say("{}", on: connection) == [.send("{}")])
        fixture.clock.advance(by: .seconds(45))
        #expect(fixture.say(#"{"messageType":"ping"}"#, on: connection) == [.send("{}")])
        fixture.clock.advance(by: .seconds(44))
        #expect(fixture.say("{}", on: connection) == [.close(.pingsTooOften)])
    }

    @Test("a subscription to broadcasts is answered")
    func broadcasts() {
        var fixture = PushServiceFixture()
        let connection = fixture.connect().connection
        let actions = fixture.say(
            #"{"messageType":"broadcast_subscribe","broadcasts":{"remote-settings/monitor_changes":"1"}}"#, on: connection)
        #expect(actions.map(PushServiceFixture.members).first?["messageType"] == .text("broadcast"))
    }

    @Test("more browsers than the bound are turned away")
    func tooMany() {
        var fixture = PushServiceFixture { $0.users = 1 }
        _ = fixture.connect()
        let connection = fixture.state.open()
        #expect(fixture.say(Self.hello, on: connection) == [.close(.tooManyUsers)])
    }

    @Test("a token says what it stands for, and no other text is one")
    func tokens() {
        var fixture = PushServiceFixture()
        let (connection, uaid, _) = fixture.connect()
        let text = String(fixture.register(on: connection).split(separator: "/").last ?? "")
        let token = EndpointToken(text, key: fixture.state.tokenKey)
        #expect(token?.uaid == uaid)
        #expect(token?.channelID == PushServiceFixture.channel(1))
        #expect(EndpointToken(String(text.dropLast()), key: fixture.state.tokenKey) == nil)
        #expect(EndpointToken(text, key: PushServiceFixture().state.tokenKey) != nil, "one seed makes one key")
    }

    @Test("every reason to close has a code that a close frame may have", arguments: BrowserClose.allCases)
    func codes(reason: BrowserClose) {
        #expect((1000...1015).contains(reason.code) || (4000...4999).contains(reason.code))
    }
}
