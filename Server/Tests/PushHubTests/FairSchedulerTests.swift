import RichPushModel
import Testing

@testable import PushHub

@Suite("The turns of hubs")
struct FairSchedulerTests {
    private func waiting(_ hubs: [Int64]) -> [FairScheduler<HubID>.Waiting] {
        hubs.enumerated().map { FairScheduler.Waiting(HubID($1), since: Timestamp(seconds: Int64($0))) }
    }

    private func counts(_ asked: [(key: HubID, count: Int)]) -> [Int64: Int] {
        Dictionary(uniqueKeysWithValues: asked.map { ($0.key.number, $0.count) })
    }

    @Test("free slots are shared evenly, and the hub that waits longest gets the remaining one")
    func even() {
        var turns = FairScheduler(free: 5, waiting: waiting([7, 3]))
        #expect(counts(turns.next()) == [7: 3, 3: 2])
        var few = FairScheduler(free: 2, waiting: waiting([9, 8, 7]))
        #expect(counts(few.next()) == [9: 1, 8: 1])
    }

    @Test("a hub that has slots already is asked after those that have none")
    func held() {
        var turns = FairScheduler(free: 2, waiting: waiting([1, 2, 3]), held: [HubID(1): 2, HubID(2): 1])
        #expect(counts(turns.next()) == [3: 1, 2: 1])
    }

    @Test("what a hub does not need is another's, so that no slot stays free while there is work")
    func leftOver() {
        var turns = FairScheduler(free: 6, waiting: waiting([1, 2]))
        #expect(counts(turns.next()) == [1: 3, 2: 3])
        turns.took(1, of: 3, from: HubID(1))
        turns.took(3, of: 3, from: HubID(2))
        #expect(counts(turns.next()) == [2: 2])
        turns.took(0, of: 2, from: HubID(2))
        #expect(turns.next().isEmpty)
    }

    @Test("without free slots no hub is asked")
    func none() {
        var turns = FairScheduler(free: 0, waiting: waiting([1]))
        #expect(turns.next().isEmpty)
    }
}
