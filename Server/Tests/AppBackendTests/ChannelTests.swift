import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Live Activities on channels")
struct ChannelTests {
    private func scene() async throws -> (ActivityScene, ActivityPhone, ActivityPhone) {
        let scene = try await ActivityScene()
        return (scene, try await scene.phone("alice"), try await scene.phone("bob"))
    }

    private func startOnChannel(
        _ scene: ActivityScene, _ change: (inout ActivityRequest) -> Void = { _ in }
    ) async throws -> ActivityStatus {
        let started = try await scene.start(to: "username:alice || username:bob") {
            $0.delivery = "channel"
            change(&$0)
        }
        try await scene.pass(seconds: 2)
        return try await scene.backend.activity(started.id, for: scene.shop)
    }

    @Test("one request brings all followers to a new state, before any of them has a token")
    func oneRequest() async throws {
        let (scene, alice, bob) = try await scene()
        let activity = try await startOnChannel(scene)
        let before = scene.channels.pushes.count
        try await scene.change(activity.id, stage: "half time")
        try await scene.work()
        #expect([alice, bob].map { $0.shown[activity.id]?.stage } == ["half time", "half time"])
        #expect(scene.channels.pushes.count == before + 1)
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).sentRevision == 2)
    }

    @Test("the start names the channel, and the status does")
    func names() async throws {
        let (scene, alice, _) = try await scene()
        let activity = try await startOnChannel(scene)
        #expect(activity.apnsChannel == "channel-1")
        #expect(alice.shown[activity.id]?.channel == "channel-1")
    }

    @Test("followers count although they have no token")
    func followers() async throws {
        let (scene, alice, _) = try await scene()
        let activity = try await startOnChannel(scene)
        try await scene.report(alice)
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).followers == ["active": 1])
    }

    @Test("the end reaches followers, and the channel goes 8 hours later")
    func ends() async throws {
        let (scene, alice, _) = try await scene()
        let activity = try await startOnChannel(scene)
        try await scene.change(activity.id, stage: "2:1") { $0.end = true }
        try await scene.work()
        #expect(alice.shown[activity.id]?.isOver == true)
        #expect(alice.shown[activity.id]?.stage == "2:1")
        #expect(scene.channels.living == ["channel-1"], "APNs keeps the end for phones that are off")
        scene.test.clock.advance(by: .seconds(8 * 3600 + 1))
        try await scene.work()
        #expect(scene.channels.living.isEmpty)
        #expect(try await scene.backend.channels(for: scene.shop).channels.isEmpty)
    }

    @Test("what a start has not sent yet does not leave after the end")
    func endBeforeStart() async throws {
        let (scene, alice, _) = try await scene()
        let activity = try await scene.start(to: "username:alice") { $0.delivery = "channel" }
        try await scene.upkeep.workOnChannels()
        scene.test.clock.advance(by: .seconds(2))
        try await scene.change(activity.id, stage: "over") { $0.end = true }
        try await scene.pass(seconds: 2)
        #expect(alice.shown.isEmpty)
        #expect(scene.channels.pushes.count == 2)
    }

    @Test("a phone that was off gets the newest state from APNs")
    func offline() async throws {
        let (scene, alice, _) = try await scene()
        let activity = try await startOnChannel(scene)
        alice.setOnline(false)
        for stage in ["1:0", "1:1"] {
            try await scene.change(activity.id, stage: stage)
            try await scene.pass(seconds: 2)
        }
        alice.setOnline(true)
        #expect(alice.shown[activity.id]?.stage == "1:1")
    }

    @Test("of changes within a second one request carries the newest")
    func coalesces() async throws {
        let (scene, alice, _) = try await scene()
        let activity = try await startOnChannel(scene)
        let before = scene.channels.pushes.count
        for stage in ["a", "b", "c", "d"] { try await scene.change(activity.id, stage: stage) }
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "d")
        #expect(scene.channels.pushes.count == before + 1)
    }

    @Test("a lasting channel is reused, and what the activity before left on it does not show")
    func reuse() async throws {
        let (scene, alice, _) = try await scene()
        let channel = try await scene.backend.createChannel(ChannelRequest(name: "the team"), for: scene.shop)
        for stage in ["first match", "second match"] {
            let activity = try await scene.start(to: "username:alice", stage: stage) {
                ($0.channel, $0.start, $0.alert) = (channel.id, "app", nil)
            }
            // The app starts it with nothing; the channel brings the state.
            alice.startItself(activity.id, stage: "", channel: channel.apnsChannel)
            try await scene.pass(seconds: 2)
            #expect(alice.shown[activity.id]?.stage == stage)
            try await scene.change(activity.id, stage: stage) { $0.end = true }
            try await scene.pass(seconds: 2)
        }
        #expect(scene.channels.living == [channel.apnsChannel])
    }

    @Test("a push that is not to be kept names no expiry, and its end the highest priority")
    func withoutStorage() async throws {
        let (scene, _, _) = try await scene()
        let channel = try await scene.backend.createChannel(ChannelRequest(storage: "none"), for: scene.shop)
        let activity = try await startOnChannel(scene) { $0.channel = channel.id }
        try await scene.change(activity.id, stage: "x")
        try await scene.pass(seconds: 2)
        try await scene.change(activity.id, stage: "y") { $0.end = true }
        try await scene.pass(seconds: 2)
        #expect(scene.channels.pushes.map(\.priority) == [5, 10])
        #expect(scene.channels.pushes.allSatisfy { $0.expiresAt == nil })
    }

    @Test(
        "a refused channel stores no activity, and the sender reads why", arguments: [ServiceErrorCode.conflict, .quotaExceeded])
    func refused(code: ServiceErrorCode) async throws {
        let (scene, _, _) = try await scene()
        scene.channels.fail(with: ServiceError(code, "no"))
        let error = await #expect(throws: ServiceError.self) { _ = try await startOnChannel(scene) }
        #expect(error?.code == code)
        #expect(try await scene.backend.activities(for: scene.shop).activities.isEmpty)
    }

    @Test("while APNs does not answer, a change waits with its reason, and leaves when it does")
    func away() async throws {
        let (scene, alice, _) = try await scene()
        let activity = try await startOnChannel(scene)
        scene.channels.fail(with: ServiceError(.notReady, "APNs gave no answer: deadline"))
        try await scene.change(activity.id, stage: "late")
        try await scene.work()
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).fault == "APNs gave no answer: deadline")
        scene.channels.fail(with: nil)
        try await scene.pass(seconds: 7)
        #expect(alice.shown[activity.id]?.stage == "late")
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).fault == nil)
    }

    @Test("an activity whose channel was deleted elsewhere says so, and is tried again only with a change")
    func lost() async throws {
        let (scene, _, _) = try await scene()
        let activity = try await startOnChannel(scene)
        scene.channels.drop("channel-1")
        try await scene.change(activity.id, stage: "lost")
        try await scene.pass(seconds: 2)
        #expect(try await scene.backend.activity(activity.id, for: scene.shop).fault == "no such channel")
        scene.channels.add("channel-1")
        let before = scene.channels.pushes.count
        try await scene.pass(seconds: 20)
        #expect(scene.channels.pushes.count == before)
        try await scene.change(activity.id, stage: "found")
        try await scene.pass(seconds: 2)
        #expect(scene.channels.pushes.count == before + 1)
    }

    @Test("a channel is its owner's and the administrators', and is not removed under an activity")
    func removal() async throws {
        let (scene, _, _) = try await scene()
        let (other, admin) = (try await scene.test.user("mallory"), try await scene.test.user("root", .admin))
        let channel = try await scene.backend.createChannel(ChannelRequest(name: "n"), for: scene.shop)
        func code(_ work: () async throws -> Void) async -> ServiceErrorCode? {
            do { try await work() } catch { return (error as? ServiceError)?.code }
            return nil
        }
        #expect(await code { try await scene.backend.removeChannel(channel.id, for: other) } == .notFound)
        #expect(await code { _ = try await scene.backend.channel(channel.id, for: other) } == .notFound)
        #expect(try await scene.backend.channels(for: other).channels.isEmpty)
        #expect(try await scene.backend.channels(for: admin).channels.map(\.id) == [channel.id])
        let activity = try await startOnChannel(scene) { $0.channel = channel.id }
        #expect(await code { try await scene.backend.removeChannel(channel.id, for: admin) } == .conflict)
        try await scene.backend.endActivity(activity.id, for: scene.shop)
        try await scene.pass(seconds: 2)
        try await scene.backend.removeChannel(channel.id, for: admin)
        try await scene.work()
        #expect(scene.channels.living.isEmpty)
        #expect(await code { _ = try await scene.backend.channel(channel.id, for: admin) } == .notFound)
    }

    @Test("a removal that APNs does not answer is tried again, and one that was done before counts")
    func removalLater() async throws {
        let (scene, _, _) = try await scene()
        let channel = try await scene.backend.createChannel(ChannelRequest(), for: scene.shop)
        scene.channels.fail(with: ServiceError(.notReady))
        try await scene.backend.removeChannel(channel.id, for: scene.shop)
        try await scene.work()
        #expect(try await scene.backend.channel(channel.id, for: scene.shop).removeAt != nil)
        scene.channels.fail(with: nil)
        scene.channels.drop(channel.apnsChannel)
        scene.test.clock.advance(by: .seconds(121))
        try await scene.work()
        #expect(try await scene.backend.channels(for: scene.shop).channels.isEmpty)
    }

    @Test("administrators see and remove the channels that another server of the app made, and only those")
    func others() async throws {
        let (scene, _, _) = try await scene()
        let admin = try await scene.test.user("root", .admin)
        let own = try await scene.backend.createChannel(ChannelRequest(), for: scene.shop)
        scene.channels.add("of another server")
        #expect(try await scene.backend.otherChannels(for: admin).apnsChannels == ["of another server"])
        let refused = await #expect(throws: ServiceError.self) { try await scene.backend.otherChannels(for: scene.shop) }
        #expect(refused?.detail?.contains("channels of other servers") == true)
        #expect(refused?.code == .forbidden)
        await #expect(throws: ServiceError.self) { try await scene.backend.removeOtherChannel(own.apnsChannel, for: admin) }
        try await scene.backend.removeOtherChannel("of another server", for: admin)
        #expect(scene.channels.living == [own.apnsChannel])
    }

    @Test("the same request twice at once makes one activity, and its second channel goes")
    func twice() async throws {
        let (scene, _, _) = try await scene()
        let started = try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { try await scene.start(to: "username:alice", key: "kick-off") { $0.delivery = "channel" }.id }
            }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(started.count == 1)
        try await scene.work()
        #expect(scene.channels.living.count == 1)
    }

    @Test("a wrong request is refused with its field", arguments: wrong)
    func wrongRequests(name: String?, storage: String?, field: String) async throws {
        let (scene, _, _) = try await scene()
        let error = await #expect(throws: ServiceError.self) {
            _ = try await scene.backend.createChannel(ChannelRequest(name: name, storage: storage), for: scene.shop)
        }
        #expect(error?.code == .invalidField && error?.detail?.hasPrefix(field) == true)
        #expect(scene.channels.living.isEmpty)
    }

    private static let wrong: [(String?, String?, String)] = [
        ("", nil, "name"), (String(repeating: "x", count: 101), nil, "name"), ("a\nb", nil, "name"), (nil, "all", "storage"),
    ]

    @Test("a channel of another sender is as good as none")
    func foreign() async throws {
        let (scene, _, _) = try await scene()
        let mallory = try await scene.test.user("mallory")
        let channel = try await scene.backend.createChannel(ChannelRequest(), for: mallory)
        let error = await #expect(throws: ServiceError.self) { _ = try await startOnChannel(scene) { $0.channel = channel.id } }
        #expect(error?.code == .notFound)
    }

    @Test("the activities of an erased user end on their channels")
    func erasure() async throws {
        let (scene, alice, _) = try await scene()
        let admin = try await scene.test.user("root", .admin)
        let activity = try await startOnChannel(scene)
        // What left in this very second delays the end of an activity that stays.
        try await scene.change(activity.id, stage: "last")
        try await scene.work()
        try await scene.backend.eraseUser(name: "shop", by: admin)
        #expect(alice.shown[activity.id]?.isOver == true)
        scene.test.clock.advance(by: .seconds(1))
        try await scene.work()
        #expect(scene.channels.living.isEmpty)
    }
}
