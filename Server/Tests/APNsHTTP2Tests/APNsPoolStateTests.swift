import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Decisions of the pool")
struct APNsPoolStateTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func state(maximum: Int = 2) -> APNsPoolState {
        APNsPoolState(
            maximumConnections: maximum, queueBeforeScaling: .milliseconds(100), credentialPause: .seconds(60),
            pacing: ReconnectPacing(pace: .milliseconds(100), initialBackOff: .seconds(1), maximumBackOff: .seconds(60)))
    }

    @Test("nothing is connected before there is something to send")
    func lazy() {
        var state = state()
        #expect(state.decide(waitingSince: nil, at: start) == .none)
        #expect(state.decide(waitingSince: start, at: start) == .connect(1))
        #expect(state.decide(waitingSince: start, at: start + .seconds(1)) == .none)
    }

    @Test("a second connection comes only when the first works and the queue still waits")
    func scaling() {
        var state = state()
        _ = state.decide(waitingSince: start, at: start)
        state.ready(1)
        #expect(state.decide(waitingSince: start, at: start + .seconds(1)) == .none)
        state.answered(1, at: start + .seconds(1))
        let due = start + .seconds(1) + .milliseconds(100)
        #expect(state.decide(waitingSince: start, at: start + .seconds(1)) == .wait(until: due))
        #expect(state.decide(waitingSince: start, at: due) == .connect(2))
        state.ready(2)
        state.answered(2, at: due)
        #expect(state.decide(waitingSince: start, at: due + .seconds(10)) == .none)
    }

    @Test("a draining connection is replaced at once and does not count")
    func replacement() {
        var state = state(maximum: 1)
        _ = state.decide(waitingSince: start, at: start)
        state.ready(1)
        state.answered(1, at: start + .seconds(5))
        state.draining(1)
        #expect(state.decide(waitingSince: start, at: start + .seconds(5)) == .connect(2))
        state.closed(1, failure: .connectionClosed, at: start + .seconds(6), chance: 0)
        #expect(state.phases.map(\.id) == [2])
    }

    @Test("failed attempts are spaced 1, 2, 4 … 60 seconds, with jitter downwards, and an answer resets that")
    func backOff() {
        var pacing = ReconnectPacing(pace: .milliseconds(100), initialBackOff: .seconds(1), maximumBackOff: .seconds(60))
        var now = start
        for expected in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            pacing.failed(at: now, chance: 0)
            #expect(pacing.nextAttempt == now + .seconds(Int64(expected)))
            now = pacing.nextAttempt
        }
        pacing.failed(at: now, chance: 1)
        #expect(pacing.nextAttempt == now + .seconds(30))
        now = pacing.nextAttempt
        pacing.succeeded()
        pacing.failed(at: now, chance: 0)
        #expect(pacing.nextAttempt == now + .seconds(1))
    }

    @Test("a connection that was never of use counts as a failure, one that was does not")
    func uselessConnections() {
        var state = state()
        _ = state.decide(waitingSince: start, at: start)
        state.closed(1, failure: .tlsFailed, at: start, chance: 0)
        #expect(state.lastFailure == .tlsFailed)
        #expect(state.decide(waitingSince: start, at: start) == .wait(until: start + .seconds(1)))
        #expect(state.decide(waitingSince: start, at: start + .seconds(1)) == .connect(2))
        state.ready(2)
        state.answered(2, at: start + .seconds(1))
        #expect(state.lastFailure == nil)
        state.closed(2, failure: .connectionClosed, at: start + .seconds(9), chance: 0)
        #expect(state.decide(waitingSince: start, at: start + .seconds(9)) == .connect(3))
    }

    @Test("attempts are paced even without failures")
    func pace() {
        var state = state()
        _ = state.decide(waitingSince: start, at: start)
        state.ready(1)
        state.draining(1)
        #expect(state.decide(waitingSince: start, at: start) == .wait(until: start + .milliseconds(100)))
    }

    @Test("a refused credential ends pushes for a while, then one more connection is tried")
    func credentialRefused() {
        var state = state()
        _ = state.decide(waitingSince: start, at: start)
        state.draining(1)
        state.credentialRefused(at: start)
        #expect(state.decide(waitingSince: start, at: start + .seconds(59)) == .failQueue(.credentialRefused))
        #expect(state.decide(waitingSince: start, at: start + .seconds(60)) == .connect(2))
    }
}
