import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("How many connections a load needs")
struct PoolDemandTests {
    /// Four seconds in which `offered` bytes a second come in, and connections that each carry `carried`.
    private func demand(offered: Int, carried: Double?) -> PoolDemand {
        var demand = PoolDemand()
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        demand.note(at: now)
        for _ in 0..<40 {
            demand.offer(offered / 10)
            if let carried { demand.carry(carried) }
            now = now + .milliseconds(100)
            demand.note(at: now)
        }
        return demand
    }

    @Test("what comes in over what one carries, rounded up")
    func ratio() {
        #expect(demand(offered: 20_000_000, carried: 819_000).wanted(backlog: 0) == 25)
        #expect(demand(offered: 100_000, carried: 819_000).wanted(backlog: 0) == 1)
    }

    @Test("a need that is a little above whole connections opens no further one")
    func slack() {
        #expect(demand(offered: 25 * 819_000 + 160_000, carried: 819_000).wanted(backlog: 0) == 25)
        #expect(demand(offered: 25 * 819_000 + 250_000, carried: 819_000).wanted(backlog: 0) == 26)
    }

    @Test("what waits counts too, so that it is worked off")
    func backlog() {
        let demand = demand(offered: 8_190_000, carried: 819_000)
        #expect(demand.wanted(backlog: 0) == 10)
        #expect(demand.wanted(backlog: 32_760_000) == 12)
    }

    @Test("without a busy connection nothing is known")
    func idle() {
        #expect(demand(offered: 1_000, carried: nil).wanted(backlog: 0) == nil)
    }

    @Test(
        "a connection that writes half a window each round trip carries that, whatever the spans are", arguments: [1, 7, 40, 95])
    func bursts(roundTrip: Int64) throws {
        var throughput = BusyThroughput()
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var now = start
        var rates: [Double] = []
        #expect(throughput.note(65_000, backlog: start, at: now) == nil)
        for _ in 0..<400 {
            // Checked in between without a result.
            #expect(throughput.note(0, backlog: start, at: now) == nil)
            now = now + .milliseconds(roundTrip)
            if let rate = throughput.note(32_768, backlog: start, at: now) { rates.append(rate) }
        }
        let expected = 32_768_000 / Double(roundTrip)
        #expect(rates.count > 2)
        #expect(rates.allSatisfy { abs($0 - expected) < 1 })
    }

    @Test("time without a backlog is not counted, whether or not the connection saw it")
    func pause() {
        var throughput = BusyThroughput()
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        #expect(throughput.note(1_000, backlog: start, at: start) == nil)
        #expect(throughput.note(1_000, backlog: nil, at: start + .milliseconds(50)) == nil)
        let second = start + .seconds(5)
        #expect(throughput.note(1_000, backlog: second, at: second) == nil)
        #expect(throughput.note(1_000, backlog: second, at: second + .milliseconds(100)) == 10_000)
        // The queue ran empty and filled again while this connection was not asked.
        let third = start + .seconds(9)
        #expect(throughput.note(1_000, backlog: third, at: third + .milliseconds(20)) == nil)
        #expect(throughput.note(1_000, backlog: third, at: third + .milliseconds(120)) == 10_000)
    }

    @Test("measured need opens several connections beside each other, paced, and stops at the need")
    func decisions() {
        var state = APNsPoolState(
            maximumConnections: 10, queueBeforeScaling: .milliseconds(100), credentialPause: .seconds(60),
            pacing: ReconnectPacing(pace: .milliseconds(100), initialBackOff: .seconds(1), maximumBackOff: .seconds(60)))
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        #expect(state.decide(waitingSince: start, wanted: 3, at: start) == .connect(1))
        #expect(state.decide(waitingSince: start, wanted: 3, at: start + .seconds(1)) == .wait(until: start + .seconds(3)))
        state.ready(1)
        state.answered(1, isOfUse: true, at: start + .seconds(1))
        #expect(state.decide(waitingSince: start, wanted: 3, at: start + .seconds(1)) == .connect(2))
        let next = start + .seconds(1) + .milliseconds(100)
        #expect(state.decide(waitingSince: start, wanted: 3, at: start + .seconds(1)) == .wait(until: next))
        #expect(state.decide(waitingSince: start, wanted: 3, at: next) == .connect(3))
        #expect(state.decide(waitingSince: start, wanted: 3, at: next + .seconds(1)) == .wait(until: start + .seconds(4)))
        for id in 2...3 {
            state.ready(id)
            state.answered(id, isOfUse: true, at: next + .seconds(1))
        }
        #expect(state.decide(waitingSince: start, wanted: 3, at: next + .seconds(9)) == .none)
    }

    @Test("pools that count together give no connection a number twice")
    func numbers() {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var given: [APNsPoolState.Instruction] = []
        for first in 1...2 {
            var state = APNsPoolState(
                maximumConnections: 10, queueBeforeScaling: .zero, credentialPause: .seconds(60),
                pacing: ReconnectPacing(pace: .zero, initialBackOff: .seconds(1), maximumBackOff: .seconds(60)))
            state.number(from: first, by: 2)
            for id in [first, first + 2] {
                given.append(state.decide(waitingSince: start, at: start))
                state.ready(id)
                state.answered(id, isOfUse: true, at: start)
            }
        }
        #expect(given == [.connect(1), .connect(3), .connect(2), .connect(4)])
    }

    @Test("the numbers of the parts of a client add up")
    func sum() {
        var one = APNsClientMetrics()
        one.window = 1_000
        one.resets = 1
        one.goAwaysByReason = [.shutdown: 2]
        one.roundTrip = .milliseconds(40)
        var other = APNsClientMetrics()
        other.window = 500
        other.resets = 2
        other.goAwaysByReason = [.shutdown: 1, .badTopic: 1]
        other.roundTrip = .milliseconds(60)
        let sum = one.adding(other).adding(APNsClientMetrics())
        #expect(sum.window == 1_500)
        #expect(sum.resets == 3)
        #expect(sum.goAwaysByReason == [.shutdown: 3, .badTopic: 1])
        #expect(sum.roundTrip == .milliseconds(60))
    }
}
