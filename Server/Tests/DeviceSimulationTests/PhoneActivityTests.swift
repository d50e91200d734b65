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

    /// A phone with one activity by push, which has a token of its own.
    private func allowed() async throws -> (fixture: PhoneFixture, card: PhoneSnapshot.Activity) {
        let fixture = try await phone()
        await fixture.service.push(activity: Self.start(), to: "start:Trip")
        #expect(await shows("packed", fixture))
        let id = try #require(await fixture.phone.snapshot.activities.first?.id)
        try await fixture.phone.perform(.allowActivity(id: id, always: true))
        return (fixture, try #require(await fixture.phone.snapshot.activities.first))
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

    @Test("a card says what changes it, when the system ends it, and how relevant it is")
    func details() async throws {
        let fixture = try await phone()
        let soon = fixture.clock.now.seconds + 60
        await fixture.service.push(activity: Self.start(#", "stale-date": \#(soon), "relevance-score": 7"#), to: "start:Trip")
        #expect(await shows("packed", fixture))
        let card = try #require(await fixture.phone.snapshot.activities.first)
        #expect(card.updates == .none, "the system gives no token before the user has answered")
        #expect(card.relevance == 7)
        #expect(card.staleAt == Timestamp(seconds: soon))
        #expect(card.changesAt == card.startedAt + .seconds(8 * 3600))
        #expect(card.alertedAt == card.startedAt)
        try await fixture.phone.perform(.allowActivity(id: card.id, always: false))
        #expect(await eventually { await fixture.phone.snapshot.activities.first?.updates == .token })
    }

    @Test("the card of an activity that is over goes with its user")
    func signOut() async throws {
        let (fixture, card) = try await allowed()
        await fixture.service.push(activity: Self.change(101, event: "end"), to: "activity:\(card.id)")
        #expect(await eventually { await fixture.phone.snapshot.activities.map(\.phase) == [.ended] })
        try await fixture.phone.perform(.signOut)
        #expect(await eventually { await fixture.phone.snapshot.activities.isEmpty })
    }

    @Test("a card turns stale at its date by itself")
    func turnsStale() async throws {
        let fixture = try await phone()
        let soon = fixture.clock.now.seconds + 60
        await fixture.service.push(activity: Self.start(#", "stale-date": \#(soon)"#), to: "start:Trip")
        #expect(await shows("packed", fixture))
        #expect(await fixture.phone.snapshot.activities.map(\.phase) == [.active])
        let pause = Timestamp(seconds: soon) - fixture.clock.now
        #expect(await eventually { fixture.clock.hasSleeper(dueIn: pause) })
        fixture.clock.advance(by: pause)
        #expect(await eventually { await fixture.phone.snapshot.activities.map(\.phase) == [.stale] })
    }

    @Test("of six starts the phone shows five and says why the sixth does not come")
    func five() async throws {
        let fixture = try await phone()
        for _ in 1...6 { await fixture.service.push(activity: Self.start(), to: "start:Trip") }
        #expect(await fixture.reached(.held))
        #expect(fixture.steps(.held).last?.title == "The phone drops the push: the app has five already")
        #expect(await eventually { await fixture.phone.snapshot.activities.count == 5 })
    }

    @Test("in low power an update that is not urgent waits, and comes when the phone saves power no more")
    func lowPower() async throws {
        let (fixture, card) = try await allowed()
        try await fixture.phone.perform(.setLowPower(on: true))
        await fixture.service.push(activity: Self.change(101), to: "activity:\(card.id)", priority: 5)
        #expect(await eventually { await fixture.phone.snapshot.activities.first?.delayed == true })
        #expect(await fixture.phone.snapshot.activities.first?.state == card.state)
        try await fixture.phone.perform(.setLowPower(on: false))
        #expect(await shows("101", fixture))
        #expect(await fixture.phone.snapshot.activities.first?.delayed == false)
    }

    @Test("the user's switch takes all away with their tokens, and the start token is another when it is on again")
    func switchedOff() async throws {
        let (fixture, card) = try await allowed()
        let before = await fixture.service.activityTokens["start:Trip"]
        try await fixture.phone.perform(.setLiveActivities(on: false))
        #expect(await fixture.phone.snapshot.activities.isEmpty)
        #expect(await fixture.service.activityTokens["activity:\(card.id)"] == nil)
        #expect(await fixture.service.activityTokens["start:Trip"] == nil)
        try await fixture.phone.perform(.setLiveActivities(on: true))
        #expect(await eventually { await fixture.service.activityTokens["start:Trip"] != nil })
        #expect(await fixture.service.activityTokens["start:Trip"] != before)
    }

    @Test("what the user removes while the app does not run is reported when it runs again; the token is dead at once")
    func dismissedUnseen() async throws {
        let (fixture, card) = try await allowed()
        #expect(await eventually { fixture.server.activityReports.last?.activities.count == 1 })
        try await fixture.phone.perform(.endApp)
        try await fixture.phone.perform(.dismissActivity(id: card.id))
        #expect(await fixture.service.activityTokens["activity:\(card.id)"] == nil)
        #expect(await fixture.phone.snapshot.process == .notRunning)
        #expect(fixture.server.activityReports.last?.activities.count == 1)
        try await fixture.phone.perform(.openApp)
        #expect(await eventually { fixture.server.activityReports.last?.activities.isEmpty == true })
    }

    @Test("a restart leaves cards and tokens; the app that the system starts for them reports and ends nothing until the unlock")
    func restart() async throws {
        let (fixture, card) = try await allowed()
        #expect(await eventually { fixture.server.activityReports.last?.activities.count == 1 })
        let tokens = await fixture.service.activityTokens
        let (reports, deletions) = (fixture.server.activityReports.count, fixture.server.count("DELETE", ""))
        try await fixture.phone.perform(.restart)
        #expect(await fixture.phone.snapshot.activities.map(\.id) == [card.id])
        #expect(await fixture.service.activityTokens == tokens)
        #expect(fixture.steps(.woken).contains { $0.title.hasSuffix("the system starts the app for them") })
        #expect(await eventually { await fixture.service.isConnected })
        // Another begins before the first unlock: the app does not know whose it is, and leaves it alone.
        await fixture.service.push(activity: Self.start(), to: "start:Trip")
        #expect(await eventually { await fixture.phone.snapshot.activities.count == 2 })
        await fixture.service.push(activity: Self.change(101, event: "end"), to: "activity:\(card.id)")
        #expect(await eventually { await fixture.phone.snapshot.activities.contains { $0.phase == .ended } })
        #expect(fixture.server.activityReports.count == reports)
        #expect(fixture.server.count("DELETE", "") == deletions)
        try await fixture.phone.perform(.unlock)
        #expect(await eventually { fixture.server.activityReports.count > reports })
        #expect(fixture.server.activityReports.last?.activities.count == 1)
        #expect(await fixture.phone.snapshot.user == "alice")
    }

    @Test("what came while the phone was off is shown when it is on again, before the first unlock too")
    func offDuringUpdate() async throws {
        let (fixture, card) = try await allowed()
        try await fixture.phone.perform(.setNetwork(offline: true))
        try await fixture.phone.perform(.restart)
        #expect(await shows("packed", fixture))
        await fixture.service.push(activity: Self.change(101), to: "activity:\(card.id)")
        try await fixture.phone.perform(.setNetwork(offline: false))
        #expect(await shows("101", fixture))
        #expect(await fixture.phone.snapshot.beforeFirstUnlock)
    }

    @Test("a picture on a card cannot be read before the first unlock, and is there after it")
    func pictureBeforeUnlock() async throws {
        let fixture = try await phone()
        fixture.store(7)
        let start = Self.start().replacingOccurrences(of: #""stage""#, with: #""clarionPicture": "7", "stage""#)
        await fixture.service.push(activity: start, to: "start:Trip")
        let picture = RichID(number: 7)
        #expect(await eventually { await fixture.phone.snapshot.activities.first?.picture == picture })
        try await fixture.phone.perform(.restart)
        #expect(await fixture.phone.snapshot.activities.count == 1)
        #expect(await fixture.phone.snapshot.activities.first?.picture == nil)
        try await fixture.phone.perform(.unlock)
        #expect(await fixture.phone.snapshot.activities.first?.picture == picture)
    }

    @Test("a phone that loses its activities at a restart gives up their tokens, and its app reports that they are gone")
    func restartTakesAway() async throws {
        let (fixture, card) = try await allowed()
        #expect(await eventually { fixture.server.activityReports.last?.activities.count == 1 })
        try await fixture.phone.perform(.setActivitiesSurviveRestart(on: false))
        #expect(await fixture.phone.snapshot.activitiesSurviveRestart == false)
        try await fixture.phone.perform(.restart)
        #expect(await fixture.phone.snapshot.activities.isEmpty)
        #expect(await fixture.service.activityTokens["activity:\(card.id)"] == nil)
        #expect(await fixture.service.activityTokens["start:Trip"] != nil)
        #expect(await fixture.phone.snapshot.process == .notRunning)
        #expect(fixture.server.activityReports.last?.activities.count == 1)
        try await fixture.phone.perform(.unlock)
        try await fixture.phone.perform(.openApp)
        #expect(await eventually { fixture.server.activityReports.last?.activities.isEmpty == true })
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
