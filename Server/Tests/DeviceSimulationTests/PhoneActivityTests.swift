import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@Suite("Live Activities on a simulated phone")
struct PhoneActivityTests {
    private func phone() async throws -> PhoneFixture {
        let fixture = try PhoneFixture { $0.activityTypes = ["Trip"] }
        try await fixture.signIn()
        #expect(await eventually { await fixture.service.activityTokens["start:Trip"] != nil })
        return fixture
    }

    private static func start(_ more: String = "") -> String {
        """
        {"aps": {"timestamp": 100, "event": "start", "content-state": {"stage": "packed"}, "attributes-type": "Trip",
            "attributes": {"clarionActivity": 7}, "alert": {"title": "Your order", "body": "It is packed."}\(more)}}
        """
    }

    private static func change(_ stamp: Int64, event: String = "update") -> String {
        #"{"aps": {"timestamp": \#(stamp), "event": "\#(event)", "content-state": {"stage": "\#(stamp)"}}}"#
    }

    private static func status(channel: String?) -> ActivityStatus {
        var status = ActivityStatus(
            id: 7, attributesType: "Trip", state: .object(["stage": .text("by the app")]), audience: "news", sender: "shop",
            phase: "active", revision: 1, sentRevision: 0, createdAt: Timestamp(seconds: 1), endsAt: Timestamp(seconds: 2))
        status.apnsChannel = channel
        return status
    }

    private func shows(_ stage: String, _ fixture: PhoneFixture) async -> Bool {
        await eventually { await fixture.phone.snapshot.activities.map(\.state) == [.object(["stage": .text(stage)])] }
    }

    @Test("a start by push shows a card, which has a token of its own when the user allows it")
    func startsByPush() async throws {
        let fixture = try await phone()
        await fixture.service.push(activity: Self.start(), to: "start:Trip")
        #expect(await shows("packed", fixture))
        let card = try #require(await fixture.phone.snapshot.activities.first)
        #expect(card.asks)
        #expect(await fixture.service.activityTokens.keys.sorted() == ["start:Trip"])
        try await fixture.phone.perform(.allowActivity(id: card.id, always: false))
        await fixture.service.push(activity: Self.change(101), to: "activity:\(card.id)")
        #expect(await shows("101", fixture))
    }

    @Test("a start that names a channel makes the phone follow it, and pushes over it change the card without a token")
    func followsChannel() async throws {
        let fixture = try await phone()
        await fixture.service.add(channel: "match")
        await fixture.service.push(activity: Self.start(#", "input-push-channel": "match""#), to: "start:Trip")
        #expect(await shows("packed", fixture))
        #expect(await fixture.service.channels == ["match": true])
        await fixture.service.push(activity: Self.change(101), overChannel: "match")
        #expect(await shows("101", fixture))
        #expect(await fixture.service.activityTokens.keys.sorted() == ["start:Trip"])
    }

    @Test("the end over a channel ends the card, and the phone leaves the channel")
    func leavesAtTheEnd() async throws {
        let fixture = try await phone()
        await fixture.service.add(channel: "match")
        await fixture.service.push(activity: Self.start(#", "input-push-channel": "match""#), to: "start:Trip")
        #expect(await shows("packed", fixture))
        await fixture.service.push(activity: Self.change(101, event: "end"), overChannel: "match")
        #expect(await eventually { await fixture.service.channels == ["match": false] })
        #expect(await fixture.phone.snapshot.activities.map(\.phase) == [.ended])
    }

    @Test("widgets have a token of their own, and a push to it reloads them")
    func widgets() async throws {
        let fixture = try PhoneFixture {
            ($0.activityTypes, $0.hasWidgets) = (["Trip"], true)
        }
        try await fixture.signIn()
        #expect(await eventually { await fixture.service.activityTokens["widgets"] != nil })
        await fixture.service.push(activity: #"{"aps":{"content-changed":true}}"#, to: "widgets", type: "widgets")
        #expect(await eventually { fixture.steps(.shown).last?.title == "The system reloads the widgets of the app" })
        await fixture.service.push(activity: #"{"aps":{"content-changed":true}}"#, to: "start:Trip", type: "widgets")
        #expect(await fixture.reached(.held))
    }

    @Test("a start that names a channel that is not there is dropped with the reason")
    func unknownChannel() async throws {
        let fixture = try await phone()
        await fixture.service.push(activity: Self.start(#", "input-push-channel": "gone""#), to: "start:Trip")
        #expect(await fixture.reached(.held))
        #expect(fixture.steps(.held).last?.title == "The phone drops the push: there is no such channel")
        #expect(await fixture.phone.snapshot.activities.isEmpty)
    }

    @Test("an app that starts an activity itself follows its channel until the user removes the card")
    func startsItself() async throws {
        let fixture = try await phone()
        await fixture.service.add(channel: "match")
        try await fixture.phone.perform(.startActivity(Self.status(channel: "match")))
        #expect(await shows("by the app", fixture))
        await fixture.service.push(activity: Self.change(101), overChannel: "match")
        #expect(await shows("101", fixture))
        let card = try #require(await fixture.phone.snapshot.activities.first)
        #expect(card.number == 7 && !card.asks)
        try await fixture.phone.perform(.dismissActivity(id: card.id))
        #expect(await eventually { await fixture.service.channels == ["match": false] })
    }

    @Test("an app that starts an activity without a channel gets a token for it at once")
    func startsItselfWithToken() async throws {
        let fixture = try await phone()
        try await fixture.phone.perform(.startActivity(Self.status(channel: nil)))
        let card = try #require(await fixture.phone.snapshot.activities.first)
        #expect(await eventually { await fixture.service.activityTokens["activity:\(card.id)"] != nil })
        await #expect(throws: PhoneActionError.self) {
            try await fixture.phone.perform(.startActivity(Self.status(channel: "gone")))
        }
    }
}
