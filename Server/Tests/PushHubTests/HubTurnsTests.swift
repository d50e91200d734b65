import RichPushModel
import Testing

@testable import PushHub

@Suite("The turns of hubs")
struct HubTurnsTests {
    private func waiting(_ hubs: [Int64]) -> [HubTurns.Waiting] {
        hubs.enumerated().map { HubTurns.Waiting(hub: HubID($1), since: Timestamp(seconds: Int64($0))) }
    }

    private func counts(_ asked: [(hub: HubID, count: Int)]) -> [Int64: Int] {
        Dictionary(uniqueKeysWithValues: asked.map { ($0.hub.number, $0.count) })
    }

    @Test("free slots are shared evenly, and who waits longest has the one that is over")
    func even() {
        var turns = HubTurns(free: 5, waiting: waiting([7, 3]))
        #expect(counts(turns.next()) == [7: 3, 3: 2])
        var few = HubTurns(free: 2, waiting: waiting([9, 8, 7]))
        #expect(counts(few.next()) == [9: 1, 8: 1])
    }

    @Test("a hub that has slots already is asked after those that have none")
    func held() {
        var turns = HubTurns(free: 2, waiting: waiting([1, 2, 3]), held: [HubID(1): 2, HubID(2): 1])
        #expect(counts(turns.next()) == [3: 1, 2: 1])
    }

    @Test("what a hub does not need is another's, so that no slot stays free while there is work")
    func leftOver() {
        var turns = HubTurns(free: 6, waiting: waiting([1, 2]))
        #expect(counts(turns.next()) == [1: 3, 2: 3])
        turns.took(1, of: 3, from: HubID(1))
        turns.took(3, of: 3, from: HubID(2))
        #expect(counts(turns.next()) == [2: 2])
        turns.took(0, of: 2, from: HubID(2))
        #expect(turns.next().isEmpty)
    }

    @Test("without free slots nobody is asked")
    func none() {
        var turns = HubTurns(free: 0, waiting: waiting([1]))
        #expect(turns.next().isEmpty)
    }
}
