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
        #expect(state.decide(waitingSince: start, at: start + .seconds(1)) == .wait(until: start + .seconds(3)))
    }

    @Test("beside a connection that hangs one more is tried, and no third")
    func hanging() {
        var state = state(maximum: 3)
        #expect(state.decide(waitingSince: start, at: start) == .connect(1))
        #expect(state.decide(waitingSince: start, wanted: 1, at: start + .seconds(3)) == .connect(2))
        for seconds in [4, 6, 20] {
            #expect(state.decide(waitingSince: start, wanted: 1, at: start + .seconds(Int64(seconds))) == .none)
        }
        state.closed(1, failure: .unreachable, at: start + .seconds(20), chance: 0)
        #expect(state.decide(waitingSince: start, wanted: 1, at: start + .seconds(21)) == .connect(3))
    }

    @Test("a second connection comes only when the first works and the queue still waits")
    func scaling() {
        var state = state()
        _ = state.decide(waitingSince: start, at: start)
        state.ready(1)
        #expect(state.decide(waitingSince: start, at: start + .seconds(1)) == .wait(until: start + .seconds(3)))
        state.answered(1, isOfUse: true, at: start + .seconds(1))
        let due = start + .seconds(1) + .milliseconds(100)
        #expect(state.decide(waitingSince: start, at: start + .seconds(1)) == .wait(until: due))
        #expect(state.decide(waitingSince: start, at: due) == .connect(2))
        state.ready(2)
        state.answered(2, isOfUse: true, at: due)
        #expect(state.decide(waitingSince: start, at: due + .seconds(10)) == .none)
    }

    @Test("a draining connection is replaced at once and does not count")
    func replacement() {
        var state = state(maximum: 1)
        _ = state.decide(waitingSince: start, at: start)
        state.ready(1)
        state.answered(1, isOfUse: true, at: start + .seconds(5))
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

    @Test("while nothing answers, attempts are never more than three seconds apart")
    func probes() {
        var pacing = ReconnectPacing(pace: .milliseconds(100), initialBackOff: .seconds(1), maximumBackOff: .seconds(60))
        var now = start
        for expected in [1, 2, 3, 3, 3, 3] {
            pacing.failed(at: now, chance: 0, isAway: true)
            #expect(pacing.nextAttempt == now + .seconds(Int64(expected)))
            now = pacing.nextAttempt
        }
    }

    @Test("however many connections fail together, it is one failure")
    func oneTrouble() {
        var pacing = ReconnectPacing(pace: .milliseconds(100), initialBackOff: .seconds(1), maximumBackOff: .seconds(60))
        for index in 0..<27 { pacing.failed(at: start + .milliseconds(Int64(index)), chance: 0) }
        #expect(pacing.nextAttempt == start + .seconds(1))
        #expect(pacing.failures == 1)
        pacing.failed(at: start + .seconds(1), chance: 0)
        #expect(pacing.nextAttempt == start + .seconds(3))
    }

    @Test("a connection on which everything was refused is of no use, so its end makes the next one wait, longer each time")
    func refusalsOnly() {
        var state = state()
        var now = start
        for pause in [1, 2, 4, 8] {
            guard case .connect(let id) = state.decide(waitingSince: now, at: now) else { return #expect(Bool(false)) }
            state.ready(id)
            state.answered(id, isOfUse: false, at: now)
            #expect(!state.isOfUse(id))
            state.closed(id, failure: .connectionClosed, at: now, chance: 0)
            #expect(state.decide(waitingSince: now, at: now) == .wait(until: now + .seconds(Int64(pause))))
            now = now + .seconds(Int64(pause))
        }
    }

    @Test("a service that ends every connection after a push sees one new connection a second")
    func shortLives() {
        var state = state()
        var now = start
        var connections = 0
        while now < start + .seconds(10) {
            switch state.decide(waitingSince: now, at: now) {
            case .connect(let id):
                connections += 1
                state.ready(id)
                state.answered(id, isOfUse: true, at: now)
                state.draining(id)
                state.closed(id, failure: .connectionClosed, at: now, chance: 0)
            case .wait(let until): now = until
            default: return #expect(Bool(false))
            }
        }
        #expect(connections == 10)
    }

    @Test("a topic that old connections refuse is tried anew, once in twenty minutes")
    func newTopic() {
        var state = state()
        for id in 1...2 {
            _ = state.decide(waitingSince: start, wanted: 2, at: start + .seconds(Int64(id)))
            state.ready(id)
            state.answered(id, isOfUse: true, at: start + .seconds(Int64(id)))
        }
        func mayKnow(_ id: Int, _ time: TimeAmount) -> Bool { state.mayKnowTopicAnew(id, at: start + time) }
        #expect(!mayKnow(1, .seconds(30)), "it has only begun")
        #expect(mayKnow(1, .seconds(90)))
        state.draining(1)
        #expect(mayKnow(1, .seconds(91)))
        #expect(mayKnow(2, .seconds(91)))
        state.closed(1, failure: .connectionClosed, at: start + .seconds(92), chance: 0)
        _ = state.decide(waitingSince: start, wanted: 2, at: start + .seconds(100))
        state.ready(3)
        #expect(!mayKnow(3, .minutes(30)), "nothing was accepted there yet")
        state.answered(3, isOfUse: true, at: start + .seconds(100))
        #expect(!mayKnow(3, .minutes(20)))
        #expect(mayKnow(3, .seconds(90) + .minutes(20)))
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
        state.answered(2, isOfUse: true, at: start + .seconds(1))
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
        let news = [state.credentialRefused(at: start), state.credentialRefused(at: start)]
        #expect(news == [true, false], "it is reported once")
        #expect(state.decide(waitingSince: start, at: start + .seconds(59)) == .failQueue(.credentialRefused))
        #expect(state.decide(waitingSince: start, at: start + .seconds(60)) == .connect(2))
    }
}
