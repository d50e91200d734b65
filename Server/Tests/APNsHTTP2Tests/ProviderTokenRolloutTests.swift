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

    @Test("a new connection begins with the new token, and so does everybody after five minutes")
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

    @Test("an old token that APNs refuses is used by nobody")
    func refused() {
        var rollout = rollout()
        _ = rollout.authorization(for: 1, carried: 1, inFlight: 5, at: start)
        rollout.forgetPrevious()
        #expect(rollout.authorization(for: 2, carried: 1, inFlight: 0, at: start)?.generation == 2)
    }
}
