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

    @Test("a device that no push ended removes by itself what has been over for a minute", arguments: ["tokens", "channel"])
    func missedEnd(delivery: String) async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let activity = try await scene.start { $0.delivery = delivery }
        try await scene.work()
        alice.giveTokens()
        try await scene.report(alice)
        alice.setOnline(false)
        try await scene.backend.endActivity(activity.id, for: scene.shop)
        try await scene.pass(seconds: 2)
        #expect(try await scene.report(alice).ended.isEmpty, "the push may still come")
        scene.test.clock.advance(by: .seconds(60))
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
        var request = SendRequest(message: "Hello")
        request.audience = "username:alice"
        let sent = try await scene.backend.send(request, idempotencyKey: nil, for: scene.shop)
        try await scene.upkeep.work()
        let waiting = try await scene.backend.status(of: sent.id, for: scene.shop)
        #expect(waiting.state == "accepted")
        #expect(waiting.targets == 1)
        try await scene.work()
        let done = try await scene.backend.status(of: sent.id, for: scene.shop)
        #expect(done.targets == 1)
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

    @Test("of a number that a report names twice the last counts, and everything else of the report is taken")
    func repeatedNumber() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        alice.giveTokens(anew: true)
        alice.changeStartToken()
        var report = alice.report
        report.activities.insert(.init(id: activity.id, state: "active", token: "0A0B", revision: 1), at: 0)
        _ = try await scene.backend.reportActivities(report, of: alice.installation, for: try #require(alice.principal))
        try await scene.change(activity.id, stage: "on the way")
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "on the way")
        let second = try await scene.start()
        try await scene.work()
        #expect(alice.starts[second.id] == 1, "the new start token is known")
    }

    @Test("a repeated number does not hide a malformed entry")
    func repeatedMalformed() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let report = ActivityReport(activities: [.init(id: 7, state: "active", token: "xyz"), .init(id: 7, state: "active")])
        let error = await #expect(throws: ServiceError.self) {
            _ = try await scene.backend.reportActivities(report, of: alice.installation, for: try #require(alice.principal))
        }
        #expect(error?.detail?.hasPrefix("activities.token") == true)
    }

    @Test("an activity that a person dismissed has no follower any more, and its token gets nothing")
    func dismissedByPerson() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        var report = alice.report
        report.activities[0].state = "dismissed"
        let answer = try await scene.backend.reportActivities(
            report, of: alice.installation, for: try #require(alice.principal))
        #expect(answer.ended.isEmpty, "there is nothing to end")
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).followers == [:])
        try await scene.change(activity.id, stage: "on the way")
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "packed")
    }

    @Test("start tokens of types that an app has no more make room, the oldest first")
    func oldStartTokens() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        let store = scene.backend.parts.store
        let record = try #require(RecordID(alice.installation.text))
        func report(_ version: Int) async throws {
            scene.test.clock.advance(by: .seconds(1))
            let types = (0..<20).map { ("Type\(version).\($0)", Sample.handle(1_000 + $0)) }
            let report = ActivityReport(startTokens: Dictionary(uniqueKeysWithValues: types))
            _ = try await scene.backend.reportActivities(report, of: alice.installation, for: try #require(alice.principal))
        }
        for version in 1...4 { try await report(version) }
        let kept = try await store.tokens(of: record, user: try #require(alice.principal).userID).map(\.kind.stored)
        let ofVersions = (1...4).map { version in kept.filter { $0.hasPrefix("start:Type\(version).") }.count }
        #expect(ofVersions == [4, 20, 20, 20])
    }

    @Test("a device that names more tokens than a hub keeps is refused, and keeps what it had")
    func tooManyTokens() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        func report(_ change: (inout ActivityReport, [String: String]) -> Void) async throws {
            let tokens = Dictionary(uniqueKeysWithValues: (0..<40).map { ("Name\($0)", Sample.handle(1_000 + $0)) })
            var report = ActivityReport()
            change(&report, tokens)
            _ = try await scene.backend.reportActivities(report, of: alice.installation, for: try #require(alice.principal))
        }
        try await report { $0.controlTokens = $1 }
        let error = await #expect(throws: ServiceError.self) { try await report { $0.startTokens = $1 } }
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

    @Test("of urgent updates every second for ten minutes, as many as iOS may grant leave urgent, and the newest arrives")
    func urgentStorm() async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        let before = phone.headers.count
        for second in 1...600 {
            try await scene.change(activity.id, stage: "\(second)") { $0.priority = 10 }
            try await scene.work()
            scene.test.clock.advance(by: .seconds(1))
        }
        try await scene.work()
        let urgent = phone.headers.dropFirst(before).count { $0.priority == 10 }
        #expect(urgent == 14, "ten at once, and one every two minutes")
        #expect(phone.shown[activity.id]?.stage == "600")
        let demoted = try await scene.backend.activity(activity.id, for: scene.shop).demoted
        #expect(demoted == phone.headers.count - before - urgent)
    }

    @Test("a start token that changes ten times makes one start")
    func flappingStartToken() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start(to: "username:alice")
        for _ in 0..<10 {
            try await scene.work()
            phone.changeStartToken()
            try await scene.report(phone)
        }
        try await scene.pass(seconds: 3)
        #expect(phone.starts[activity.id] == 1)
    }

    @Test("a device whose user has switched Live Activities off gets no start, and gets them again with a new token")
    func switchedOff() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        phone.setPermission(enabled: false)
        try await scene.report(phone)
        // A report that says nothing of the switch, such as an older app's, does not move it.
        phone.setPermission(enabled: nil)
        try await scene.report(phone)
        let missed = try await scene.start(to: "username:alice")
        try await scene.work()
        #expect(scene.transport.batches.isEmpty)
        phone.setPermission(enabled: true)
        phone.changeStartToken()
        try await scene.report(phone)
        let activity = try await scene.start(to: "username:alice")
        try await scene.work()
        #expect(phone.starts == [activity.id: 1], "\(missed.id) began before")
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

    @Test("an end may keep the card for four hours, and not for longer")
    func dismissal() async throws {
        let scene = try await ActivityScene()
        let activity = try await scene.start()
        func end(hours: Int) async throws {
            let moment = scene.test.clock.now + .seconds(hours * 3600)
            try await scene.change(activity.id, stage: "delivered") { ($0.end, $0.dismissAt) = (true, moment) }
        }
        let error = await #expect(throws: ServiceError.self) { try await end(hours: 5) }
        #expect(error?.detail == "dismissAt: it must be milliseconds since 1970, at most four hours ahead")
        try await end(hours: 4)
    }

    @Test("requests to reload widgets within two seconds become one push, for the widgets alone")
    func reloads() async throws {
        let scene = try await ActivityScene()
        let alice = try await scene.phone("alice")
        var report = alice.report
        report.widgetToken = "0a0b"
        _ = try await scene.backend.reportActivities(report, of: alice.installation, for: try #require(alice.principal))
        let request = ReloadRequest(what: "widgets", audience: "username:alice")
        let first = try await scene.backend.reload(request, for: scene.shop)
        #expect(try await scene.backend.reload(request, for: scene.shop) == first)
        try await scene.work()
        #expect(scene.transport.batches.isEmpty, "it waits for what comes within its two seconds")
        try await scene.pass(seconds: 3)
        let sent = scene.transport.batches.flatMap { batch in
            batch.targets.map { "\($0.handle.text) \(batch.headers[$0.headers].pushType)" }
        }
        #expect(sent == ["0A0B widgets"])
        #expect(try await scene.backend.reload(request, for: scene.shop).id != first.id, "a later change has a push of its own")
    }

    @Test("nothing but widgets and controls is reloaded")
    func wrongReload() async throws {
        let scene = try await ActivityScene()
        let error = await #expect(throws: ServiceError.self) {
            _ = try await scene.backend.reload(ReloadRequest(what: "phones"), for: scene.shop)
        }
        #expect(error?.code == .invalidField && error?.detail?.hasPrefix("what") == true)
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
        ("staleAt", { $0.staleAt = Timestamp(milliseconds: 1_800_000_000_000_000) }),
        ("staleAt", { $0.staleAt = Timestamp(milliseconds: .min) }), ("staleAt", { $0.staleAt = Timestamp(milliseconds: .max) }),
        ("start", { $0.start = "later" }), ("channel: ", { $0.channel = 0 }), ("channel: ", { $0.channel = -3 }),
        ("state", { $0.state = .object([ActivityKey.revision: .integer(1)]) }),
        ("clarionPicture", { $0.state = .object([ActivityKey.picture: .text("nonsense")]) }),
        ("clarionPicture", { $0.state = .object([ActivityKey.picture: .number(1.5)]) }),
        ("4096", { $0.state = .object(["text": .text(String(repeating: "x", count: 4000))]) }),
    ]
}
