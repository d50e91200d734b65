import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Moving to a new provider token")
struct ProviderTokenRolloutTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let old = APNsAuthorization(value: "bearer old", generation: 1)
    private let new = APNsAuthorization(value: "bearer new", generation: 2)

    private func rollout() -> ProviderTokenRollout {
        var rollout = ProviderTokenRollout()
        rollout.offer(old, at: start)
        rollout.offer(new, at: start)
        return rollout
    }

    @Test("one connection goes first, and the next follows when it has an answer to the new token")
    func oneByOne() {
        var rollout = rollout()
        #expect(rollout.authorization(for: 1, carried: 1, inFlight: 2, at: start)?.generation == 2)
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start)?.generation == 1)
        #expect(rollout.authorization(for: 1, carried: 2, inFlight: 3, at: start)?.generation == 2)
        // Two of these answers may be to requests with the old token.
        rollout.answered(1)
        rollout.answered(1)
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start)?.generation == 1)
        rollout.answered(1)
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start)?.generation == 2)
        #expect(rollout.authorization(for: 3, carried: 1, inFlight: 0, at: start)?.generation == 1)
    }

    @Test("a new connection begins with the new token, and so do all others after five minutes")
    func ends() {
        var rollout = rollout()
        _ = rollout.authorization(for: 1, carried: 1, inFlight: 0, at: start)
        #expect(rollout.authorization(for: 9, carried: 0, inFlight: 0, at: start)?.generation == 2)
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start + .minutes(4))?.generation == 1)
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start + .minutes(5))?.generation == 2)
    }

    @Test("when the first connection ends, another takes its turn")
    func gone() {
        var rollout = rollout()
        _ = rollout.authorization(for: 1, carried: 1, inFlight: 5, at: start)
        rollout.gone(1)
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start)?.generation == 2)
    }

    @Test("a new token that comes too soon for APNs is kept back while the old one is good, from new connections too")
    func held() {
        var rollout = ProviderTokenRollout()
        rollout.offer(old, at: start)
        let renewal = start + .minutes(43)
        rollout.offer(new, at: renewal)
        func generation(_ id: Int, carried: UInt64, at now: NIODeadline) -> UInt64? {
            rollout.authorization(for: id, carried: carried, inFlight: 0, at: now)?.generation
        }
        #expect(generation(1, carried: 1, at: renewal) == 2)
        rollout.hold(refused: 2, at: renewal)
        rollout.gone(1)
        for minutes in [43, 48, 50, 54] as [Int64] {
            #expect(generation(2, carried: 1, at: start + .minutes(minutes)) == 1)
            #expect(generation(3, carried: 0, at: start + .minutes(minutes)) == 1)
            // To change back would be one more change.
            #expect(generation(4, carried: 2, at: start + .minutes(minutes)) == 2)
        }
        // Then one by one again.
        #expect(generation(2, carried: 1, at: start + .minutes(55)) == 2)
        #expect(generation(5, carried: 1, at: start + .minutes(55)) == 1)
        #expect(generation(6, carried: 0, at: start + .minutes(55)) == 2)
        #expect(generation(5, carried: 1, at: start + .minutes(60)) == 2)
    }

    @Test("nothing is kept back for a token that is no longer good, for none, or because the old one was refused")
    func notHeld() {
        var alone = ProviderTokenRollout()
        alone.offer(old, at: start)
        alone.hold(refused: 1, at: start)
        #expect(alone.authorization(for: 1, carried: 0, inFlight: 0, at: start)?.generation == 1)
        var aged = ProviderTokenRollout()
        aged.offer(old, age: .minutes(30), at: start)
        aged.offer(new, at: start + .minutes(24))
        aged.hold(refused: 2, at: start + .minutes(25))
        #expect(aged.authorization(for: 1, carried: 0, inFlight: 0, at: start + .minutes(25))?.generation == 2)
        var other = rollout()
        other.hold(refused: 1, at: start)
        #expect(other.authorization(for: 1, carried: 0, inFlight: 0, at: start)?.generation == 2)
        var expired = rollout()
        expired.hold(refused: 2, at: start)
        expired.refuse(1)
        #expect(expired.authorization(for: 1, carried: 1, inFlight: 0, at: start)?.generation == 2)
    }

    @Test("an old token that APNs refuses is used by no connection, also when that is known before there is another")
    func refused() {
        var rollout = rollout()
        _ = rollout.authorization(for: 1, carried: 1, inFlight: 5, at: start)
        rollout.refuse(1)
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start)?.generation == 2)
        var early = ProviderTokenRollout()
        early.offer(old, at: start)
        early.refuse(1)
        early.offer(new, at: start)
        for id in 1...3 {
            #expect(early.authorization(for: id, carried: 1, inFlight: 0, at: start)?.generation == 2)
        }
        var young = self.rollout()
        young.refuse(2)
        #expect(young.authorization(for: 1, carried: 1, inFlight: 0, at: start)?.generation == 2, "there is nothing better")
    }

    @Test("a connection that missed a whole token takes the newest, and not one change after the other")
    func older() {
        var rollout = rollout()
        rollout.offer(APNsAuthorization(value: "newest", generation: 3), at: start)
        #expect(rollout.authorization(for: 1, carried: 1, inFlight: 0, at: start)?.generation == 3)
        #expect(rollout.authorization(for: 2, carried: 2, inFlight: 0, at: start)?.generation == 3)
        #expect(rollout.authorization(for: 3, carried: 2, inFlight: 0, at: start)?.generation == 2)
    }
}
