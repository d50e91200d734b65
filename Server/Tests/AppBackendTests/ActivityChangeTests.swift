import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Changes of a Live Activity, and their repeats")
struct ActivityChangeTests {
    private func code(_ work: () async throws -> Void) async -> ServiceErrorCode? {
        do { try await work() } catch { return (error as? ServiceError)?.code }
        return nil
    }

    @Test("a second end is answered like the first and changes nothing, and another user still finds nothing to end")
    func endedTwice() async throws {
        let scene = try await ActivityScene()
        let (_, activity) = try await scene.following()
        let mallory = try await scene.test.user("mallory")
        try await scene.backend.endActivity(activity.id, for: scene.shop)
        try await scene.pass(seconds: 2)
        let first = try await scene.backend.activity(activity.id, for: scene.shop)
        try await scene.backend.endActivity(activity.id, for: scene.shop)
        try await scene.pass(seconds: 2)
        #expect(try await scene.backend.activity(activity.id, for: scene.shop) == first)
        #expect(await code { try await scene.backend.endActivity(activity.id, for: mallory) } == .notFound)
        #expect(await code { try await scene.backend.endActivity(activity.id + 1, for: scene.shop) } == .notFound)
        #expect(await code { try await scene.change(activity.id, stage: "late") } == .conflict)
    }

    @Test("a moment or a relevance alone is a change, which is sent with the last state", arguments: [true, false])
    func withoutState(isMoment: Bool) async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        var change = ActivityChange()
        let moment = scene.test.clock.now + .seconds(600)
        if isMoment { change.staleAt = moment } else { change.relevance = 80 }
        let status = try await scene.backend.changeActivity(activity.id, change, for: scene.shop)
        #expect(status.revision == 2)
        #expect(status.staleAt == (isMoment ? moment : nil))
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.revision == 2)
        #expect(alice.shown[activity.id]?.stage == "packed")
    }

    @Test("a change leaves the moment and the relevance that it does not name, and each is removed alone")
    func keptAndRemoved() async throws {
        let scene = try await ActivityScene()
        let moment = scene.test.clock.now + .seconds(600)
        let id = try await scene.start { ($0.staleAt, $0.relevance) = (moment, 80) }.id
        func after(_ change: (inout ActivityChange) -> Void) async throws -> ActivityContent? {
            var wish = ActivityChange()
            change(&wish)
            _ = try await scene.backend.changeActivity(id, wish, for: scene.shop)
            return try await scene.backend.parts.store.activity(id)?.draft.content
        }
        let restated = try await after { $0.state = .object(["stage": .text("near")]) }
        #expect(restated?.staleAt == moment && restated?.relevance == 80)
        let weighed = try await after { $0.relevance = 20 }
        #expect(weighed?.staleAt == moment && weighed?.relevance == 20)
        let timeless = try await after { $0.staleAt = .some(nil) }
        #expect(timeless?.staleAt == nil && timeless?.relevance == 20)
        let plain = try await after { $0.relevance = .some(nil) }
        #expect(plain?.relevance == nil)
        #expect(plain?.state == .object(["stage": .text("near")]))
    }

    @Test("a moment that has passed on the device goes with the next change, and an end has none")
    func passedMoment() async throws {
        let scene = try await ActivityScene()
        let now = scene.test.clock.now
        // The device gets whole seconds, and calls the state out of date from the fifth on.
        let passing = try await scene.start { $0.staleAt = now + .milliseconds(5_900) }.id
        let ending = try await scene.start { $0.staleAt = now + .seconds(600) }.id
        try await scene.pass(seconds: 5)
        #expect(try await scene.change(passing, stage: "near").staleAt == nil)
        #expect(try await scene.change(ending, stage: "delivered") { $0.end = true }.staleAt == nil)
    }

    @Test("a change that says nothing is refused")
    func empty() async throws {
        let scene = try await ActivityScene()
        let (_, activity) = try await scene.following()
        for priority in [nil, 10] {
            var change = ActivityChange()
            change.priority = priority
            #expect(
                await code { _ = try await scene.backend.changeActivity(activity.id, change, for: scene.shop) } == .invalidField)
        }
    }

    @Test("a repeat of a change with its key changes nothing, also after another change")
    func repeated() async throws {
        let scene = try await ActivityScene()
        let (alice, activity) = try await scene.following()
        try await scene.pass(seconds: 2)
        var change = ActivityChange(state: .object(["stage": .text("near")]))
        change.alert = ActivityAlert(title: "Look", body: "It is near.")
        func send(_ key: String) async throws -> ActivityStatus {
            try await scene.backend.changeActivity(activity.id, change, idempotencyKey: key, for: scene.shop)
        }
        #expect(try await send("near-1").revision == 2)
        try await scene.pass(seconds: 2)
        #expect(try await send("near-1").revision == 2)
        try await scene.pass(seconds: 2)
        #expect(alice.alerts == 2, "that of the start, and one of the change")
        try await scene.change(activity.id, stage: "here")
        #expect(try await send("near-1").revision == 3)
        try await scene.pass(seconds: 2)
        #expect(alice.shown[activity.id]?.stage == "here")
        #expect(try await send("near-2").revision == 4)
    }

    @Test("a key of another change is refused, and that of an end gets its answer after the end")
    func otherChange() async throws {
        let scene = try await ActivityScene()
        let (_, activity) = try await scene.following()
        var end = ActivityChange(state: .object(["stage": .text("delivered")]))
        end.end = true
        func send(_ change: ActivityChange) async throws -> ActivityStatus {
            try await scene.backend.changeActivity(activity.id, change, idempotencyKey: "end", for: scene.shop)
        }
        let first = try await send(end)
        #expect(first.phase == "ended")
        #expect(try await send(end).revision == first.revision)
        end.state = .object(["stage": .text("lost")])
        #expect(await code { _ = try await send(end) } == .idempotencyMismatch)
    }

    @Test("the keys of the last eight changes are known")
    func manyKeys() async throws {
        let scene = try await ActivityScene()
        let (_, activity) = try await scene.following()
        func send(_ number: Int) async throws -> Int64 {
            let change = ActivityChange(state: .object(["stage": .text("\(number)")]))
            return try await scene.backend.changeActivity(
                activity.id, change, idempotencyKey: "key-\(number)", for: scene.shop
            ).revision
        }
        for number in 1...9 { #expect(try await send(number) == Int64(number) + 1) }
        #expect(try await send(2) == 10)
        #expect(try await send(1) == 11)
    }
}
