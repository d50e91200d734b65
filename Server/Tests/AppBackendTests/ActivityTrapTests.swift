import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

@testable import AppBackend

/// Mistakes that others reported, as far as a server can fall into them (Reference/LiveActivities.md#5).
@Suite("Live Activities: mistakes that others reported")
struct ActivityTrapTests {
    private static func trip() throws -> LiveActivity {
        let state: [String: JSONValue] = ["gate": .text("A1"), "leavesAt": .integer(1_800_000_600_000)]
        let draft = ActivityDraft(
            owner: UserID(1), ownerName: try #require(UserName("shop")), attributesType: "TripAttributes",
            attributes: .object(["city": .text("Oslo"), ActivityKey.replaces: .integer(7)]), startsByPush: true,
            audience: try TagExpression(parsing: "news"),
            content: ActivityContent(
                state: .object(state), alert: ActivityAlert(title: "Your trip", body: "It leaves."),
                staleAt: Timestamp(milliseconds: 1_800_000_060_999), priority: 10))
        return LiveActivity(id: 12, draft: draft, stamp: 1_800_000_000, createdAt: Timestamp(seconds: 1_800_000_000))
    }

    private static func json(_ bytes: [UInt8]) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(bytes)) }

    /// What the SDK's `LiveActivityTests` read as an app does.
    private static let start = """
        {"aps": {"event": "start", "timestamp": 1800000000, "stale-date": 1800000060, "input-push-token": 1,
            "alert": {"title": "Your trip", "body": "It leaves."}, "attributes-type": "TripAttributes",
            "attributes": {"city": "Oslo", "clarionActivity": 12, "clarionReplaces": 7},
            "content-state": {"gate": "A1", "leavesAt": 1800000600000, "clarionRevision": 1}}}
        """
    private static let end = """
        {"aps": {"event": "end", "timestamp": 1800000009, "dismissal-date": 1800003600,
            "content-state": {"gate": "A1", "leavesAt": 1800000600000, "clarionRevision": 2}}}
        """

    @Test("the server's own moments are whole seconds since 1970, and what is in attributes and state goes as it came")
    func golden() throws {
        var trip = try Self.trip()
        #expect(try Self.json(try ActivityPayload(activity: trip).start) == Self.json(Array(Self.start.utf8)))
        (trip.phase, trip.revision, trip.stamp) = (.ended, 2, 1_800_000_009)
        (trip.draft.content.alert, trip.draft.content.staleAt) = (nil, nil)
        trip.draft.content.dismissAt = Timestamp(milliseconds: 1_800_003_600_500)
        #expect(try Self.json(try ActivityPayload(activity: trip).update) == Self.json(Array(Self.end.utf8)))
    }

    @Test("a start lives for ten minutes, or until its state is stale")
    func startLife() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let now = scene.test.clock.now
        _ = try await scene.start()
        _ = try await scene.start { $0.staleAt = now + .seconds(90) }
        try await scene.work()
        let lives = phone.headers.map { $0.expiration.map { $0 - now.seconds } }
        #expect(Set(lives) == [600, 90])
    }

    @Test("two equal states differ by their revision, so that iOS draws the second")
    func equalStates() async throws {
        let scene = try await ActivityScene()
        let (phone, activity) = try await scene.following()
        for revision in 2...3 as ClosedRange<Int64> {
            try await scene.change(activity.id, stage: "packed")
            try await scene.pass(seconds: 2)
            #expect(phone.shown[activity.id]?.revision == revision)
        }
    }

    @Test(
        "an end by the system and one by a person are the same: other devices go on, and the next activity starts",
        arguments: ["ended", "dismissed", nil])
    func endOnDevice(state: String?) async throws {
        let scene = try await ActivityScene()
        let audience = "username:alice || username:bob"
        let (alice, bob) = (try await scene.phone("alice"), try await scene.phone("bob"))
        let activity = try await scene.start(to: audience)
        try await scene.work()
        for phone in [alice, bob] {
            phone.giveTokens()
            try await scene.report(phone)
        }
        var report = alice.report
        if let state { report.activities[0].state = state } else { report.activities = [] }
        _ = try await scene.backend.reportActivities(report, of: alice.installation, for: try #require(alice.principal))
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "on the way")
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "packed")
        #expect(bob.shown[activity.id]?.stage == "on the way")
        let next = try await scene.start(to: audience)
        try await scene.work()
        #expect(alice.starts == [activity.id: 1, next.id: 1])
    }

    @Test("the next of two activities says which one it replaces, and that goes on where the next was not shown")
    func replaced() async throws {
        let scene = try await ActivityScene()
        let (phone, first) = try await scene.following()
        try await scene.pass(seconds: 2)
        phone.setOnline(false)
        let next = try await scene.start {
            $0.attributes = .object([ActivityKey.replaces: .integer(first.id)])
        }
        #expect(next.attributes?.members?[ActivityKey.replaces] == .integer(first.id))
        try await scene.report(phone)
        #expect(try await scene.backend.activity(first.id, for: scene.shop).followers == ["active": 1])
        phone.setOnline(true)
        try await scene.change(first.id, stage: "on the way")
        try await scene.pass(seconds: 2)
        #expect(phone.shown[first.id]?.stage == "on the way")
    }

    @Test(
        "an activity that is not the sender's cannot be replaced", arguments: [JSONValue.text("7"), .integer(999), .integer(1)])
    func replacedForeign(number: JSONValue) async throws {
        let scene = try await ActivityScene()
        let root = try await scene.test.admin()
        var request = ActivityRequest(
            attributesType: ActivityScene.type, state: .object(["stage": .text("packed")]), audience: "username:alice")
        request.alert = ActivityAlert(title: "Your order", body: "It is packed.")
        let other = try await scene.backend.startActivity(request, for: root)
        #expect(other.id == 1)
        let error = await #expect(throws: ServiceError.self) {
            _ = try await scene.start { $0.attributes = .object([ActivityKey.replaces: number]) }
        }
        #expect(error?.code == .invalidField && error?.detail?.contains(ActivityKey.replaces) == true)
    }

    @Test("a start token from before an update of the system is doubted, and a new one is not")
    func oldStartToken() async throws {
        let scene = try await ActivityScene()
        let phone = try await scene.phone("alice")
        let alice = try #require(phone.principal)
        func report(_ system: String) async throws {
            var update = InstallationUpdate(handle: Sample.handle(1), tags: [])
            update.systemVersion = system
            _ = try await scene.backend.putInstallation(id: phone.installation, update: update, for: alice)
            var report = phone.report
            report.systemVersion = system
            _ = try await scene.backend.reportActivities(report, of: phone.installation, for: alice)
        }
        phone.changeStartToken()
        try await report("iOS 26.4")
        // The device drops what comes.
        phone.setOnline(false)
        let root = try await scene.test.admin()
        func sentence() async throws -> String {
            let activity = try await scene.start()
            try await scene.work()
            let finding = try await scene.backend.explain(activity: activity.id, toUser: "alice", for: root).finding
            #expect(finding.cause == "activity-start-accepted")
            return finding.sentence
        }
        #expect(try await !sentence().contains("iOS 26"))
        try await report("iOS 27.0")
        let doubt = try await sentence()
        #expect(doubt.contains("iOS 26.4") && doubt.contains("iOS 27.0"))
        phone.changeStartToken()
        try await report("iOS 27.0")
        #expect(try await !sentence().contains("iOS 26"))
    }
}
