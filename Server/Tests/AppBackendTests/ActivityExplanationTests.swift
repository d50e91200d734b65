import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Why a user sees a Live Activity, or does not")
struct ActivityExplanationTests {
    private func finding(
        _ activity: Int64, _ scene: ActivityScene, user: String = "alice"
    ) async throws -> Explanation.Finding {
        let root = try await scene.test.admin()
        return try await scene.backend.explain(activity: activity, toUser: user, for: root).finding
    }

    private func cause(_ activity: Int64, _ scene: ActivityScene, user: String = "alice") async throws -> String {
        try await finding(activity, scene, user: user).cause
    }

    @Test("a user or an activity that is not there is the explanation")
    func unknown() async throws {
        let scene = try await ActivityScene()
        let (_, activity) = try await scene.following()
        #expect(try await cause(activity.id, scene, user: "zoe") == "unknown-user")
        #expect(try await cause(999, scene) == "unknown-activity")
        let root = try await scene.test.admin()
        func isOfUnknown(_ id: Int64, _ user: String) async throws -> Bool {
            try await scene.backend.explain(activity: id, toUser: user, for: root).isOfUnknown
        }
        #expect(try await isOfUnknown(activity.id, "zoe"))
        #expect(try await isOfUnknown(999, "alice"))
        #expect(try await !isOfUnknown(activity.id, "alice"))
    }

    @Test("an activity that another one replaced is explained by that one, for those who get it")
    func replaced() async throws {
        let scene = try await ActivityScene()
        let (phone, bobs) = (try await scene.phone("alice"), try await scene.phone("bob"))
        let old = try await scene.start(to: "username:alice || username:bob")
        let new = try await scene.start(to: "username:alice") {
            $0.attributes = .object([ActivityKey.replaces: .integer(old.id)])
        }
        try await scene.work()
        // The app has ended the one before.
        for (device, ids) in [(phone, [new.id]), (bobs, [])] {
            let entries = ids.map { ActivityReport.Entry(id: $0, state: "active", token: "0A0B", revision: 1) }
            var report = device.report
            report.activities = entries
            _ = try await scene.backend.reportActivities(report, of: device.installation, for: try #require(device.principal))
        }
        let found = try await finding(old.id, scene)
        #expect(found.cause == "activity-over")
        #expect(found.sentence.contains("Activity \(new.id) takes its place"))
        #expect(try await cause(old.id, scene, user: "bob") == "activity-start-accepted")
        #expect(try await cause(new.id, scene) == "activity-shown")
    }

    @Test("a start beside five activities that a device shows may have been dropped")
    func sixth() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        var shown: [Int64] = []
        for _ in 0..<5 { shown.append(try await scene.start().id) }
        let last = try await scene.start()
        try await scene.work()
        func report(_ ids: [Int64]) async throws {
            var report = phone.report
            report.activities = ids.map { .init(id: $0, state: "active", token: "0A0\($0)", revision: 1) }
            _ = try await scene.backend.reportActivities(report, of: phone.installation, for: try #require(phone.principal))
        }
        try await report(Array(shown.dropLast()))
        #expect(try await !finding(last.id, scene).sentence.contains("other activities"))
        try await report(shown)
        let found = try await finding(last.id, scene)
        #expect(found.cause == "activity-start-accepted")
        #expect(found.sentence.contains("5 other activities of the app"))
        #expect(try await cause(shown[0], scene) == "activity-shown")
    }

    @Test("without a device in the audience, the explanation says what is missing")
    func noDevice() async throws {
        let scene = try await ActivityScene()
        _ = try await scene.test.user("bob")
        let phone = try await scene.phone("alice")
        let activity = try await scene.start(to: "username:carol")
        #expect(try await cause(activity.id, scene, user: "bob") == "never-a-device")
        #expect(try await cause(activity.id, scene) == "not-in-audience")
        try await scene.backend.deleteInstallation(id: phone.installation, for: try #require(phone.principal))
        #expect(try await cause(activity.id, scene) == "signed-out")
    }

    @Test("a phone of a platform without Live Activities explains nothing")
    func android() async throws {
        let scene = try await ActivityScene()
        let (_, activity) = try await scene.following()
        let alice = try await scene.test.signIn("alice")
        _ = try await scene.backend.putInstallation(
            id: try #require(InstallationID("android-1")),
            update: InstallationUpdate(platform: "fcmv1", handle: "t:1", tags: []), for: alice)
        let root = try await scene.test.admin()
        let explanation = try await scene.backend.explain(activity: activity.id, toUser: "alice", for: root)
        #expect(explanation.devices.map(\.device) == ["phone-1"])
    }

    @Test("a card goes from the start to the user's consent, then to the newest state, and to its end")
    func life() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start(to: "username:alice")
        #expect(try await cause(activity.id, scene) == "in-progress", "the hub has it, and no dispatcher has worked")
        try await scene.work()
        #expect(try await cause(activity.id, scene) == "activity-start-accepted")
        try await scene.report(phone)
        #expect(try await cause(activity.id, scene) == "activity-not-allowed-yet")
        phone.giveTokens()
        try await scene.report(phone)
        #expect(try await cause(activity.id, scene) == "activity-shown")
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        try await scene.work()
        #expect(try await cause(activity.id, scene) == "activity-behind", "the app has not run since")
        try await scene.report(phone)
        #expect(try await cause(activity.id, scene) == "activity-shown")
        try await scene.backend.endActivity(activity.id, for: scene.shop)
        #expect(try await finding(activity.id, scene).sentence.contains("when it last reported"))
        try await scene.pass(seconds: 2)
        try await scene.report(phone)
        #expect(try await finding(activity.id, scene).sentence.contains("may keep the ended card"))
    }

    @Test("a device that never got the activity is explained by what kept it away")
    func missing() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let own = try await scene.start(to: "username:alice") { $0.start = "app" }
        #expect(try await cause(own.id, scene) == "activity-not-begun")
        let other = try await scene.start(to: "username:alice") { $0.attributesType = "MatchAttributes" }
        try await scene.work()
        #expect(try await cause(other.id, scene) == "no-start-token")
        phone.setPermission(enabled: false)
        try await scene.report(phone)
        #expect(try await cause(other.id, scene) == "live-activities-off")
        try await scene.backend.parts.store.forgetTokens(of: try #require(RecordID(phone.installation.text)))
        #expect(try await cause(other.id, scene) == "live-activities-not-reported")
    }

    @Test("a start token that came after the start may have come too late")
    func lateStartToken() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start(to: "username:alice")
        phone.setOnline(false)
        try await scene.work()
        scene.test.clock.advance(by: .seconds(1))
        phone.changeStartToken()
        try await scene.report(phone)
        let found = try await finding(activity.id, scene)
        #expect(found.cause == "activity-start-accepted")
        #expect(found.sentence.contains("too late"))
    }

    @Test("a start that APNs refused is explained with the outcome")
    func refusedStart() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start(to: "username:alice")
        phone.changeStartToken()
        scene.test.clock.advance(by: .seconds(1))
        try await scene.work()
        let found = try await finding(activity.id, scene)
        #expect(found.cause == "activity-start-failed")
        #expect(found.sentence.contains("gone"))
    }

    @Test("an update that APNs refused is explained with the outcome, until the device reports the newest state")
    func refusedUpdate() async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        phone.giveTokens(anew: true)
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        try await scene.work()
        let found = try await finding(activity.id, scene)
        #expect(found.cause == "activity-update-failed")
        #expect(found.sentence.contains("gone"))
        try await scene.report(phone)
        try await scene.pass(seconds: 6)
        try await scene.report(phone)
        #expect(try await cause(activity.id, scene) == "activity-shown")
    }

    @Test("an update that has not left yet is explained by the send that is under way")
    func updateUnderWay() async throws {
        let scene = try await ActivityScene()
        let (_, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        #expect(try await cause(activity.id, scene) == "in-progress", "the hub has it, and no dispatcher has worked")
    }

    @Test("an update that a channel does not take is explained by the fault")
    func faultOfChannel() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let activity = try await scene.start(to: "username:alice") { $0.delivery = "channel" }
        try await scene.work()
        try await scene.report(phone)
        #expect(try await cause(activity.id, scene) == "activity-shown")
        scene.channels.fail(with: ServiceError(.notReady, "no credential for APNs"))
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        try await scene.work()
        let found = try await finding(activity.id, scene)
        #expect(found.cause == "waiting")
        #expect(found.sentence.contains("no credential for APNs"))
    }

    @Test("a device that marks the activity as out of date is explained by that")
    func stale() async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        var report = phone.report
        report.activities[0].state = "stale"
        _ = try await scene.backend.reportActivities(report, of: phone.installation, for: try #require(phone.principal))
        #expect(try await cause(activity.id, scene) == "activity-stale")
    }

    @Test("only those who read the sends of all ask")
    func access() async throws {
        let scene = try await ActivityScene()
        let error = await #expect(throws: ServiceError.self) {
            _ = try await scene.backend.explain(activity: 1, toUser: "alice", for: scene.shop)
        }
        #expect(error?.code == .forbidden)
    }
}
