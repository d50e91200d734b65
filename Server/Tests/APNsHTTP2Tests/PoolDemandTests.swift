import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("How many connections a load needs")
struct PoolDemandTests {
    /// Ten spans of 100 ms in which `offered` bytes a second come in and each of the connections carries `carried`.
    private func demand(offered: Int, carried: Int, connections: Int, isBacklogged: Bool = true) -> PoolDemand {
        var demand = PoolDemand()
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        demand.note(isBacklogged: isBacklogged, connections: connections, at: now)
        for _ in 0..<40 {
            demand.offer(offered / 10)
            demand.write(carried * connections / 10)
            now = now + .milliseconds(100)
            demand.note(isBacklogged: isBacklogged, connections: connections, at: now)
        }
        return demand
    }

    @Test("what comes in over what one carries, rounded up")
    func ratio() {
        #expect(demand(offered: 20_000_000, carried: 819_000, connections: 3).wanted(backlog: 0) == 25)
        #expect(demand(offered: 100_000, carried: 819_000, connections: 1).wanted(backlog: 0) == 1)
    }

    @Test("what waits counts too, so that it is worked off")
    func backlog() {
        let demand = demand(offered: 8_190_000, carried: 819_000, connections: 2)
        #expect(demand.wanted(backlog: 0) == 10)
        #expect(demand.wanted(backlog: 32_760_000) == 12)
    }

    @Test("a connection that was never busy says nothing")
    func idle() {
        #expect(demand(offered: 1_000, carried: 1_000, connections: 1, isBacklogged: false).wanted(backlog: 0) == nil)
    }

    @Test("measured need opens several connections beside each other, paced, and stops at the need")
    func decisions() {
        var state = APNsPoolState(
            maximumConnections: 10, queueBeforeScaling: .milliseconds(100), credentialPause: .seconds(60),
            pacing: ReconnectPacing(pace: .milliseconds(100), initialBackOff: .seconds(1), maximumBackOff: .seconds(60)))
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        #expect(state.decide(waitingSince: start, wanted: 3, at: start) == .connect(1))
        #expect(state.decide(waitingSince: start, wanted: 3, at: start + .seconds(1)) == .none)
        state.ready(1)
        state.answered(1, at: start + .seconds(1))
        #expect(state.decide(waitingSince: start, wanted: 3, at: start + .seconds(1)) == .connect(2))
        let next = start + .seconds(1) + .milliseconds(100)
        #expect(state.decide(waitingSince: start, wanted: 3, at: start + .seconds(1)) == .wait(until: next))
        #expect(state.decide(waitingSince: start, wanted: 3, at: next) == .connect(3))
        #expect(state.decide(waitingSince: start, wanted: 3, at: next + .seconds(9)) == .none)
    }
}
