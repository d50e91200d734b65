import ClarionTesting
import Logging
import PushHub
import ServerObservability
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

    @Test("a readiness check whose caller waits no longer gives the reason of the last failure, if there was one")
    func reason() async throws {
        let gate = Gate(isOpen: false)
        let last = Mutex<String?>("another program holds the database (SQLITE_BUSY)")
        let look = SharedLook(clock: ManualClock()) { await gate.pass() }
        let trouble = TroubleLog("failed", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let check = NodeReadiness.check("storage", look, trouble) { last.withLock { $0 } }
        let first = Task { try await check.check() }
        first.cancel()
        let fault = await #expect(throws: ReadinessFault.self) { try await first.value }
        #expect(fault?.reason == "another program holds the database (SQLITE_BUSY)")
        last.withLock { $0 = nil }
        let second = Task { try await check.check() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
    }
}
