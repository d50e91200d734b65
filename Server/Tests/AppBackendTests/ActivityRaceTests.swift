import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend
@testable import PushHub

/// What reports, changes, clocks and crashes do to a Live Activity when they come in an unlucky order.
@Suite("Live Activities in an unlucky order")
struct ActivityRaceTests {
    /// A report that is stored. The hub gets its tokens only when `meanwhile` is over.
    private func report(
        _ phone: ActivityPhone, of activity: Int64, in scene: ActivityScene, meanwhile: () async throws -> Void
    ) async throws {
        let parts = scene.backend.parts
        let record = try #require(RecordID(phone.installation.text))
        let change = try await parts.begin(record)
        try await store(phone, of: activity, mark: change.mark, in: scene)
        try await meanwhile()
        try await parts.synchronise(record, in: change)
    }

    private func store(
        _ phone: ActivityPhone, of id: Int64, mark: Int64, revision: Int64? = nil, in scene: ActivityScene
    ) async throws {
        let shown = try #require(phone.shown[id])
        let token = try #require(shown.token)
        let handle = try #require(DeviceToken(token, platform: .apns))
        let report = DeviceActivities(
            tokens: [], replacesControls: false,
            activities: [.init(id: id, state: .active, handle: handle, revision: revision ?? shown.revision)], mark: mark)
        _ = try await scene.test.store.store(
            report, of: try #require(RecordID(phone.installation.text)), user: try #require(phone.principal).userID,
            at: scene.test.clock.now)
    }

    @Test("a late token gets the newest state, also when another node publishes before the hub knows the token")
    func publishedBeforeToken() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start()
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        try await scene.pass(seconds: 2)
        phone.giveTokens()
        try await report(phone, of: activity.id, in: scene) { try await scene.work() }
        try await scene.work()
        #expect(phone.shown[activity.id]?.stage == "on the way")
    }

    @Test("a new token gets a change that left for the old one after the report")
    func changedBeforeToken() async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        phone.giveTokens(anew: true)
        try await report(phone, of: activity.id, in: scene) {
            try await scene.change(activity.id, stage: "on the way")
            try await scene.work()
        }
        try await scene.work()
        #expect(phone.shown[activity.id]?.stage == "on the way")
    }

    @Test("a new token of a device that shows the newest state gets no push")
    func currentToken() async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        let before = phone.stamps.count
        phone.giveTokens(anew: true)
        try await report(phone, of: activity.id, in: scene) {}
        try await scene.pass(seconds: 2)
        #expect(phone.stamps.count == before)
    }

    @Test("many devices whose tokens come late get the newest state with few sends, and each of them once")
    func manyLate() async throws {
        let scene = try await ActivityScene()
        let names = (1...12).map { "user\($0)" }
        var phones: [ActivityPhone] = []
        for name in names { phones.append(try await scene.phone(name)) }
        let activity = try await scene.start(to: names.map { "username:\($0)" }.joined(separator: " || "))
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        try await scene.pass(seconds: 2)
        for phone in phones {
            phone.giveTokens()
            try await report(phone, of: activity.id, in: scene) {}
        }
        let (batches, pushes) = (scene.transport.batches.count, phones.map(\.stamps.count))
        try await scene.work()
        #expect(scene.transport.batches.count == batches + 3, "five, five and two")
        #expect(phones.allSatisfy { $0.shown[activity.id]?.stage == "on the way" })
        #expect(phones.map(\.stamps.count) == pushes.map { $0 + 1 })
    }

    @Test("a device catches up once after a crash, whatever the time is by then", arguments: [true, false])
    func repeatedCatchUp(isOver: Bool) async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        let staleAt = scene.test.clock.now + .seconds(3)
        try await scene.change(activity.id, stage: "late") { ($0.end, $0.staleAt) = (isOver, isOver ? nil : staleAt) }
        phone.giveTokens(anew: true)
        try await scene.pass(seconds: 5)
        try await report(phone, of: activity.id, in: scene) {}
        try await scene.work()
        #expect(phone.shown[activity.id]?.stage == "late")
        // The second time it is as if the catch-up had left and its node had ended.
        for _ in 0..<2 {
            try await store(phone, of: activity.id, mark: 7, revision: 1, in: scene)
            try await scene.work()
            scene.test.clock.advance(by: .seconds(5))
        }
        let now = scene.test.clock.now
        #expect(try await scene.test.store.claimCatchUps(at: now + .seconds(60), until: now, limit: 9).isEmpty)
    }

    @Test("a change that comes while a request about the channel fails for good still leaves")
    func changedDuringFailure() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start { $0.delivery = "channel" }
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "refused")
        let claim = try #require(try await claim(onChannels: true, in: scene))
        try await scene.change(activity.id, stage: "good")
        try await scene.test.store.postponeActivity(claim, until: nil, fault: "refused")
        try await scene.pass(seconds: 2)
        #expect(phone.shown[activity.id]?.stage == "good")
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).fault == nil)
    }

    private func claim(onChannels: Bool, in scene: ActivityScene) async throws -> ActivityClaim? {
        let now = scene.test.clock.now
        return try await scene.test.store.claimActivities(
            onChannels: onChannels, at: now, until: now + .seconds(1), limit: 1
        ).first
    }

    /// A channel on which APNs keeps nothing.
    private func channel(in scene: ActivityScene) async throws -> ChannelStatus {
        try await scene.backend.createChannel(ChannelRequest(name: "match", storage: "none"), for: scene.shop)
    }

    @Test("a change after a crash reaches what the start before the crash has begun")
    func changedAfterStart() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let channel = try await channel(in: scene)
        let activity = try await scene.start { $0.channel = channel.id }
        // A node ends when the hub has the start.
        let claim = try #require(try await claim(onChannels: true, in: scene))
        let body = try ActivityPayload(activity: claim.activity, channel: channel.apnsChannel).start
        var command = SendCommand(
            message: PushMessage(body: body, pushType: "liveactivity", priority: 10),
            audience: claim.activity.draft.audience, idempotencyKey: "activity \(activity.id) start")
        command.format = .native(InstallationToken.Kind.activityStart(type: ActivityScene.type).platform)
        _ = try await scene.backend.parts.hub.send(command)
        _ = await scene.dispatcher.pass()
        scene.test.clock.advance(by: .seconds(2))
        try await scene.change(activity.id, stage: "half time")
        try await scene.pass(seconds: 2)
        #expect(phone.starts == [activity.id: 1])
        #expect(phone.shown[activity.id]?.stage == "half time")
    }

    @Test("a change before the first push reaches what an app has begun with the first state")
    func changedBeforePush() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let channel = try await channel(in: scene)
        let activity = try await scene.start { ($0.channel, $0.start, $0.alert) = (channel.id, "app", nil) }
        phone.startItself(activity.id, stage: "kick-off", channel: channel.apnsChannel)
        try await scene.change(activity.id, stage: "half time")
        try await scene.pass(seconds: 2)
        #expect(phone.shown[activity.id]?.stage == "half time")
    }

    @Test("a node whose clock was ahead for a while delays no change")
    func clockAhead() async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "second")
        try await scene.change(activity.id, stage: "third")
        let later = scene.test.clock.now + .seconds(3600)
        let ahead = try #require(
            try await scene.test.store.claimActivities(onChannels: false, at: later, until: later, limit: 1).first)
        try await scene.change(activity.id, stage: "fourth")
        try await scene.test.store.publish(ahead, startSend: nil, updateSend: nil, at: scene.test.clock.now)
        try await scene.pass(seconds: 3)
        #expect(phone.shown[activity.id]?.stage == "fourth")
        try await scene.change(activity.id, stage: "fifth")
        try await scene.pass(seconds: 3)
        #expect(phone.shown[activity.id]?.stage == "fifth")
    }

    @Test("at eight hours a card ends that an app began later")
    func lateCard() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start { ($0.start, $0.alert) = ("app", nil) }
        try await scene.work()
        scene.test.clock.advance(by: .seconds(5 * 3600))
        phone.startItself(activity.id, stage: "by the app")
        phone.giveTokens()
        try await scene.report(phone)
        try await scene.work()
        scene.test.clock.advance(by: .seconds(3 * 3600 + 1))
        try await scene.upkeep.sweep()
        try await scene.work()
        #expect(phone.shown[activity.id]?.isOver == true)
    }

    /// An activity whose update with an alert has left for the hub, and reached no device yet.
    private func alerted(_ scene: ActivityScene) async throws -> (ActivityPhone, Int64) {
        let (phone, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "near") { $0.alert = ActivityAlert(title: "Look", body: "It is near.") }
        return (phone, activity.id)
    }

    @Test("an update waits for the one before, whose alert reaches every device")
    func slowSend() async throws {
        let scene = try await ActivityScene()
        let (phone, id) = try await alerted(scene)
        for number in 1...5 {
            scene.test.clock.advance(by: .seconds(2))
            try await scene.change(id, stage: "\(number)")
            try await scene.upkeep.work()
        }
        try await scene.work()
        #expect(phone.shown[id]?.stage == "near")
        #expect(phone.alerts == 2)
        try await scene.pass(seconds: 2)
        #expect(phone.shown[id]?.stage == "5")
        #expect(phone.alerts == 2)
        #expect(try await scene.backend.activity(id, for: scene.shop).fault == nil)
    }

    @Test("an update takes the place of one that has not left to all after half a minute")
    func stuckSend() async throws {
        let scene = try await ActivityScene()
        let (phone, id) = try await alerted(scene)
        let before = phone.stamps.count
        scene.test.clock.advance(by: .seconds(31))
        try await scene.change(id, stage: "here")
        try await scene.work()
        #expect(phone.shown[id]?.stage == "here")
        #expect(phone.stamps.count == before + 1)
    }

    @Test("an end takes the place of an update at once")
    func endDuringSend() async throws {
        let scene = try await ActivityScene()
        let (phone, id) = try await alerted(scene)
        let before = phone.stamps.count
        scene.test.clock.advance(by: .seconds(2))
        try await scene.change(id, stage: "done") { $0.end = true }
        try await scene.work()
        #expect(phone.shown[id]?.isOver == true)
        #expect(phone.stamps.count == before + 1)
    }
}
