import ClarionTesting
import Synchronization
import Testing

@testable import ServerComposition

@Suite("A look that many ask for")
struct SharedLookTests {
    private struct NotThere: Error {}

    @Test("goes on once, however many ask, and counts for its time; a failure counts for less")
    func rate() async throws {
        let clock = ManualClock()
        let count = Mutex(0)
        let fails = Mutex(false)
        let look = SharedLook(goodFor: .seconds(2), badFor: .seconds(1), clock: clock) {
            count.withLock { $0 += 1 }
            if fails.withLock({ $0 }) { throw NotThere() }
        }
        for _ in 1...5 { try await look() }
        #expect(count.withLock { $0 } == 1)
        clock.advance(by: .seconds(2))
        fails.withLock { $0 = true }
        for _ in 1...5 { await #expect(throws: NotThere.self) { try await look() } }
        #expect(count.withLock { $0 } == 2)
        fails.withLock { $0 = false }
        clock.advance(by: .seconds(1))
        for _ in 1...5 { try await look() }
        #expect(count.withLock { $0 } == 3)
    }

    @Test("counts no more once it is doubted")
    func doubt() async throws {
        let count = Mutex(0)
        let isDoubted = Mutex(false)
        let look = SharedLook(clock: ManualClock(), isDoubted: { isDoubted.withLock { $0 } }) { count.withLock { $0 += 1 } }
        try await look()
        isDoubted.withLock { $0 = true }
        try await look()
        #expect(count.withLock { $0 } == 2)
    }

    @Test("a caller that is cancelled waits no longer, and those after it wait for the same look")
    func cancelled() async throws {
        let gate = Gate(isOpen: false)
        let count = Mutex(0)
        let look = SharedLook(clock: ManualClock()) {
            count.withLock { $0 += 1 }
            await gate.pass()
        }
        let first = Task { try await look() }
        #expect(await eventually { count.withLock { $0 } == 1 })
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        async let second: Void = look()
        gate.open()
        try await second
        #expect(count.withLock { $0 } == 1)
    }
}
