import RichPushModel
import TagExpressions
import Testing

import struct RichPushModel.Tag

@testable import PushHub

@Suite("Slices, slots, leases and waits")
struct PlanningTests {
    @Test("slices cover every key once", arguments: [0, 1, 8, 9, 1000, 1001, 10_000, 10_001])
    func slices(_ audience: Int) {
        let plan = SlicePlan(audience: audience)
        #expect(plan.ranges.count == (audience > 10_000 ? SlicePlan.split : 1))
        #expect(plan.weight == (audience > 1000 ? .large : audience > 8 ? .small : .single))
        #expect(SlicePlan(audience: audience, isScheduled: true).weight == (audience > 1000 ? .large : .small))
        #expect(plan.ranges.first?.after == .beforeAll)
        #expect(plan.ranges.last?.last == .last)
        #expect(zip(plan.ranges, plan.ranges.dropFirst()).allSatisfy { $0.last == $1.after && $0.after < $0.last })
    }

    @Test(
        "a paced send has as many slices as its pace needs, and their shares are the pace",
        arguments: [(1, 1), (2000, 1), (2001, 2), (4001, 3), (31_999, 16), (100_000, 16)])
    func shares(_ pace: Int, _ count: Int) {
        let plan = SlicePlan(audience: 10_001, pushesPerSecond: pace)
        #expect(plan.ranges.count == count)
        #expect(plan.ranges.first?.after == .beforeAll)
        #expect(plan.ranges.last?.last == .last)
        let shares = (0..<count).map { plan.share(of: pace, slice: $0) }
        #expect(shares.reduce(0, +) == pace && shares.allSatisfy { $0 > 0 && abs($0 - shares[0]) <= 1 })
        #expect(SlicePlan(audience: 10_000, pushesPerSecond: pace).ranges.count == 1)
    }

    @Test("no record stands before all, and after the last key comes the first")
    func keys() throws {
        #expect(SliceKey.last.next == SliceKey(.min + 1))
        #expect(SliceKey(4).next == SliceKey(5))
        #expect(SliceKey(of: try #require(RecordID("a"))) > .beforeAll)
    }

    @Test("large slices leave a slot to small ones, small ones leave one to large ones, single ones have their own")
    func slots() {
        var slots = DispatchSlots(limit: 4, largeLimit: 3, singleLimit: 2)
        #expect(slots.free == 4)
        #expect(slots.freeForLarge == 3)
        #expect(slots.freeForSmall == 3)
        #expect(slots.freeForSingle == 2)
        for _ in 1...3 { slots.take(.large) }
        #expect(slots.free == 1)
        #expect(slots.freeForLarge == 0)
        #expect(slots.freeForSmall == 1)
        #expect(slots.freeForSingle == 2)
        for _ in 1...2 { slots.take(.single) }
        #expect(slots.free == 1)
        #expect(slots.freeForSingle == 0)
        slots.take(.small)
        #expect(slots.free == 0)
        #expect(slots.freeForSmall == 0)
        for _ in 1...3 { slots.give(.large) }
        for _ in 1...2 { slots.take(.small) }
        #expect(slots.free == 1)
        #expect(slots.freeForSmall == 0)
        #expect(slots.freeForLarge == 1)
        var narrow = DispatchSlots(limit: 1, largeLimit: 3, singleLimit: 1)
        narrow.take(.small)
        #expect(narrow.free == 0)
        #expect(narrow.freeForLarge == 0)
        #expect(narrow.freeForSingle == 1)
    }

    @Test("a node sends only while its lease outlasts the deadline of a push")
    func lease() {
        var term = LeaseTerm(askedAt: .seconds(100), duration: .seconds(60), pushDeadline: .seconds(30))
        #expect(term.instruction(at: .seconds(100)) == .send)
        #expect(term.instruction(at: .seconds(129)) == .send)
        #expect(term.instruction(at: .seconds(130)) == .renew)
        #expect(term.instruction(at: .seconds(500)) == .renew)
        term.renewed(askedAt: .seconds(130))
        #expect(term.instruction(at: .seconds(159)) == .send)
        term.renewed(askedAt: .seconds(110))
        #expect(term.askedAt == .seconds(130))
    }

    @Test("waits double up to a cap, are spread, and never shorter than asked for")
    func backOff() {
        let backOff = BackOff(base: .seconds(1), cap: .seconds(60))
        #expect([1, 2, 3, 7, 100].map { backOff.delay(failures: $0, jitter: 0) } == [1, 2, 4, 60, 60].map(Duration.seconds))
        #expect(backOff.delay(failures: 0, jitter: 0) == .seconds(1))
        #expect(backOff.delay(failures: .max, jitter: 1) == .seconds(30))
        #expect(backOff.delay(failures: 3, jitter: 1) == .seconds(2))
        #expect(backOff.delay(failures: 3, jitter: 9) == .seconds(2))
        // Never less than what was asked for, and up to a tenth more.
        #expect(backOff.delay(failures: 1, jitter: 0, minimum: .seconds(90)) == .seconds(90))
        #expect(backOff.delay(failures: 1, jitter: 1, minimum: .seconds(90)) == .seconds(99))
    }

    @Test("a repeat has the same push id, another record or send another")
    func pushID() throws {
        let (one, two) = (NotificationID(), NotificationID())
        let (a, b) = (try #require(RecordID("a")), try #require(RecordID("b")))
        let id = PushID(notification: one, record: a)
        #expect(id == PushID(notification: one, record: a))
        #expect(id != PushID(notification: one, record: b))
        #expect(id != PushID(notification: two, record: a))
        #expect(Array(id.uuid.uuidString)[14] == "5")
    }

    @Test("push ids stay what they were, since those in flight outlive an upgrade")
    func goldenPushID() throws {
        let send = try #require(NotificationID("0c5d2a1e-9b7f-4c3d-8e6a-5b4c3d2e1f00"))
        #expect(
            PushID(notification: send, record: try #require(RecordID("device-1"))).uuid.uuidString
                == "7D55B34B-2A37-5663-8D1F-48B86E189E56")
        let handle = DeviceToken(canonical: "ABCD")
        #expect(PushID(notification: send, handle: handle).uuid.uuidString == "B9BB67E7-FC1A-57EB-8E2A-3EF25401BD4E")
    }

    @Test("the digest of a command covers all it says")
    func digest() throws {
        let base = SendCommand(message: PushMessage(body: [1, 2]), audience: nil)
        let now = Timestamp(seconds: 9)
        let changes: [(inout SendCommand) -> Void] = [
            { $0.message.body = [1] }, { $0.message.pushType = "alert" }, { $0.message.priority = 5 },
            { $0.message.collapseID = "c" },
            { $0.message.expiresAt = now }, { $0.message.topic = "c" }, { $0.audience = .tag(Tag("t")!) }, { $0.dueAt = now },
            { $0.pushesPerSecond = 3 },
        ]
        let digests = changes.map { change in
            var command = base
            change(&command)
            return command.digest
        }
        #expect(Set(digests + [base.digest]).count == changes.count + 1)
        var keyed = base
        keyed.idempotencyKey = "k"
        #expect(keyed.digest == base.digest)
    }
}
