import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

@testable import AppBackend

@Suite("Live Activities")
struct ActivityTests {
    @Test("one call starts an activity on the devices of an audience, and on no other")
    func starts() async throws {
        let scene = try await ActivityScene()
        let (alice, bob) = (try await scene.phone("alice"), try await scene.phone("bob"))
        let activity = try await scene.start()
        try await scene.work()
        #expect(alice.shown[activity.id]?.stage == "packed")
        #expect(bob.shown.isEmpty)
        #expect(alice.headers.map(\.pushType) == ["liveactivity"])
        #expect(alice.headers.map(\.priority) == [10])
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).started == ["accepted": 1])
    }

    @Test("a change reaches a device whose token is known, and counts as its latest revision")
    func changes() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        try await scene.work()
        #expect(alice.shown[activity.id]?.stage == "on the way")
        let status = try await scene.backend.activity(activity.id, for: scene.shop)
        #expect(status.revision == 2 && status.sentRevision == 2)
        #expect(status.followers == ["active": 1])
        #expect(status.updated == ["accepted": 1])
    }

    @Test("what changes before a token is known is sent when it comes, and only the newest")
    func lateToken() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let activity = try await scene.start()
        try await scene.work()
        for stage in ["on the way", "round the corner", "at the door"] {
            try await scene.change(activity.id, stage: stage)
            try await scene.pass(seconds: 2)
        }
        #expect(alice.shown[activity.id]?.stage == "packed")
        #expect(alice.starts == [activity.id: 1], "a missing token is no reason for another start")
        alice.giveTokens()
        try await scene.report(alice)
        let before = alice.stamps.count
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "at the door")
        #expect(alice.stamps.count == before + 1)
    }

    @Test("an end that comes before the token still ends the activity, with its last state")
    func earlyEnd() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let activity = try await scene.start()
        try await scene.work()
        try await scene.change(activity.id, stage: "delivered") { $0.end = true }
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.isOver == false)
        alice.giveTokens()
        try await scene.report(alice)
        try await scene.pass(seconds: 2)
        #expect(
            alice.shown[activity.id]
                == .init(
                    stamp: alice.shown[activity.id]?.stamp ?? 0, revision: 2, stage: "delivered", isOver: true,
                    token: alice.shown[activity.id]?.token))
    }

    @Test("a device without a token ends by itself what is over, when it reports")
    func endedWithoutToken() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let activity = try await scene.start()
        try await scene.work()
        try await scene.backend.endActivity(activity.id, for: scene.shop)
        try await scene.pass(seconds: 2)
        #expect(try await scene.report(alice).ended == [activity.id])
    }

    @Test("of changes within a second devices get the newest, and every stamp is higher than the one before")
    func coalesced() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        let before = alice.stamps.count
        for number in 1...30 { try await scene.change(activity.id, stage: "\(number)") }
        try await scene.pass(seconds: 3)
        #expect(alice.shown[activity.id]?.stage == "30")
        #expect(alice.stamps.count - before <= 2, "the first at once, the last a second later")
        #expect(zip(alice.stamps, alice.stamps.dropFirst()).allSatisfy { $0 < $1 })
        #expect(alice.stamps.allSatisfy { abs($0 - scene.test.clock.now.seconds) < 60 }, "seconds, not milliseconds")
    }

    @Test("an alert is shown once, also when another change takes the place of its own")
    func alerts() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        #expect(alice.alerts == 1)
        try await scene.change(activity.id, stage: "a")
        try await scene.change(activity.id, stage: "b") { $0.alert = ActivityAlert(title: "Look", body: "It is near.") }
        try await scene.change(activity.id, stage: "c")
        try await scene.pass(seconds: 4)
        #expect(alice.headers.last?.priority == 10, "it lights the screen")
        try await scene.change(activity.id, stage: "d")
        try await scene.pass(seconds: 2)
        #expect(alice.alerts == 2)
        #expect(alice.shown[activity.id]?.stage == "d")
        #expect(alice.headers.last?.priority == 5)
    }

    @Test("a dead token of an activity goes, and its device gets what it is sent")
    func deadToken() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        // Another token, of which the server does not know yet.
        alice.giveTokens(anew: true)
        try await scene.change(activity.id, stage: "lost")
        try await scene.pass(seconds: 2)
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).updated == ["gone": 1])
        try await scene.report(alice)
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "lost", "the new token catches up")
        let sent = try await scene.backend.send(
            {
                var request = SendRequest(message: "Hello"); request.audience = "username:alice"; return request
            }(),
            idempotencyKey: nil, for: scene.shop)
        try await scene.work()
        #expect(try await scene.backend.status(of: sent.id, for: scene.shop).outcomes["accepted"] == 1)
    }

    @Test("an ordinary send reaches the app's token alone")
    func kindsApart() async throws {
        let scene = try await ActivityScene()
        _ = try await scene.following()
        let count = try await scene.backend.countAudience("username:alice", for: scene.shop)
        #expect(count.targets == 1)
    }

    @Test("a device outside of the audience follows nothing, even if it reports the number")
    func foreign() async throws {
        let scene = try await ActivityScene()
        let (alice, eve) = (try await scene.phone("alice"), try await scene.phone("eve"))
        let activity = try await scene.start()
        try await scene.work()
        alice.giveTokens()
        try await scene.report(alice)
        eve.startItself(activity.id, stage: "forged")
        eve.giveTokens()
        #expect(try await scene.report(eve).ended == [activity.id])
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "private")
        try await scene.pass(seconds: 2)
        #expect(eve.shown[activity.id]?.stage == "forged")
        #expect(alice.shown[activity.id]?.stage == "private")
    }

    @Test("what another user started on the device is over for the next one, and nothing more of it comes")
    func changedHands() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.backend.deleteInstallation(id: alice.installation, for: try #require(alice.principal))
        let bob = try await scene.test.user("bob")
        _ = try await scene.backend.putInstallation(
            id: alice.installation, update: InstallationUpdate(handle: Sample.handle(1), tags: []), for: bob)
        alice.principal = bob
        try await scene.change(activity.id, stage: "for alice")
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "packed")
        #expect(try await scene.report(alice).ended == [activity.id])
    }

    @Test("an activity that the app starts follows with the number that the answer has")
    func startedByApp() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let activity = try await scene.start {
            $0.start = "app"
            $0.alert = nil
        }
        try await scene.work()
        #expect(alice.shown.isEmpty)
        alice.startItself(activity.id, stage: "by the app")
        alice.giveTokens()
        try await scene.report(alice)
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "packed")
    }

    @Test("a report that leaves a token out keeps it, and a full list without an activity ends it")
    func reports() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        let principal = try #require(alice.principal)
        _ = try await scene.backend.reportActivities(
            ActivityReport(activities: [.init(id: activity.id, state: "active")]), of: alice.installation, for: principal)
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).followers == ["active": 1])
        _ = try await scene.backend.reportActivities(ActivityReport(), of: alice.installation, for: principal)
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).followers == [:])
        let second = try await scene.start()
        try await scene.work()
        #expect(alice.starts[second.id] == 1, "the start token is there still")
    }

    @Test("a device that names more tokens than a hub keeps is refused, and keeps what it had")
    func tooManyTokens() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let principal = try #require(alice.principal)
        func report(_ numbers: Range<Int>) async throws {
            let tokens = Dictionary(uniqueKeysWithValues: numbers.map { ("Type\($0)", Sample.handle(1_000 + $0)) })
            _ = try await scene.backend.reportActivities(
                ActivityReport(startTokens: tokens), of: alice.installation, for: principal)
        }
        try await report(0..<40)
        let error = await #expect(throws: ServiceError.self) { try await report(40..<80) }
        #expect(error?.code == .quotaExceeded)
        let activity = try await scene.start()
        try await scene.work()
        #expect(alice.shown[activity.id] != nil)
    }

    @Test("the end of a send for one kind of token is counted for that kind")
    func telemetryByKind() async throws {
        let scene = try await ActivityScene()
        _ = try await scene.phone("alice")
        let activity = try await scene.start()
        try await scene.work()
        let send = try #require(try await scene.test.store.activity(activity.id)?.startSend)
        let telemetry = try await scene.backend.parts.hub.telemetry(of: send)
        #expect(telemetry?.platformOutcomes[Platform(rawValue: "apns.start:DeliveryAttributes")] == [.accepted: 1])
        #expect(telemetry?.platformOutcomes[.apns]?[.accepted] == nil)
    }

    @Test("a key stands for the first activity, and not for another request")
    func idempotency() async throws {
        let scene = try await ActivityScene()
        let first = try await scene.start(key: "order-4711")
        #expect(try await scene.start(key: "order-4711").id == first.id)
        await #expect(throws: ServiceError.self) { try await scene.start(stage: "another", key: "order-4711") }
    }

    @Test("a start that a crash kept back until its state was stale still leaves")
    func lateStart() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let now = scene.test.clock.now
        let draft = ActivityDraft(
            owner: scene.shop.userID, ownerName: scene.shop.name, attributesType: ActivityScene.type, attributes: .object([:]),
            startsByPush: true, audience: try TagExpression(parsing: "username:alice"),
            content: ActivityContent(state: .object(["stage": .text("packed")]), staleAt: now + .seconds(5)))
        let activity = try await scene.test.store.addActivity(draft, key: nil, at: now, audit: nil)
        scene.test.clock.advance(by: .seconds(60))
        try await scene.work()
        #expect(alice.starts == [activity.id: 1])
    }

    @Test("eight hours after its start an activity is over")
    func lifetime() async throws {
        let scene = try await ActivityScene()
        let activity = try await scene.start()
        scene.test.clock.advance(by: .seconds(8 * 3600 + 1))
        try await scene.upkeep.sweep()
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).phase == "ended")
        await #expect(throws: ServiceError.self) { try await scene.change(activity.id, stage: "late") }
    }

    @Test("a wrong request is refused with its field, before anything is stored", arguments: Self.wrong)
    func refusals(field: String, change: @Sendable (inout ActivityRequest) -> Void) async throws {
        let scene = try await ActivityScene()
        let error = await #expect(throws: ServiceError.self) { try await scene.start(change) }
        #expect(error?.detail?.contains(field) == true, "\(error?.detail ?? "")")
        #expect(try await scene.backend.activities(for: scene.shop).activities.isEmpty)
    }

    private static let wrong: [(String, @Sendable (inout ActivityRequest) -> Void)] = [
        ("alert", { $0.alert = nil }), ("alert", { $0.alert = ActivityAlert(title: "", body: "x") }),
        ("attributesType", { $0.attributesType = "App.Delivery Attributes" }), ("state", { $0.state = .list([]) }),
        ("attributes", { $0.attributes = .text("x") }), ("staleAt", { $0.staleAt = Timestamp(milliseconds: 1) }),
        ("staleAt", { $0.staleAt = Timestamp(milliseconds: 1_800_000_000_000_000) }), ("start", { $0.start = "later" }),
        ("state", { $0.state = .object([ActivityKey.revision: .integer(1)]) }),
        ("4096", { $0.state = .object(["text": .text(String(repeating: "x", count: 4000))]) }),
    ]
}
