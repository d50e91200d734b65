import ClarionTesting
import RichPushModel
import Testing

@testable import ClarionServer

@Suite("The clock that nodes share")
struct NodeClockTests {
    private let machine = ManualClock()

    /// Measures against a database that is ahead, over a way that takes so long.
    private func measure(_ clock: NodeClock, ahead: Duration, taking length: Duration = .milliseconds(2)) async throws {
        try await clock.measure {
            machine.advance(by: length / 2)
            let time = machine.now + ahead
            machine.advance(by: length / 2)
            return time
        }
    }

    @Test("the time is the database's, however wrong the machine's is", arguments: [-3_600, -1, 0, 1, 3_600])
    func follows(seconds: Int) async throws {
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(seconds))
        #expect(clock.now == machine.now + .seconds(seconds) && clock.ahead == .seconds(seconds))
        machine.advance(by: .seconds(60))
        #expect(clock.now == machine.now + .seconds(seconds))
        #expect(clock.uptime == machine.uptime)
    }

    @Test("what the way there explains changes nothing, so that the time does not tremble")
    func noise() async throws {
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(10))
        try await measure(clock, ahead: .seconds(10) + .milliseconds(4))
        #expect(clock.ahead == .seconds(10))
        try await measure(clock, ahead: .seconds(10) + .milliseconds(90), taking: .milliseconds(200))
        #expect(clock.ahead == .seconds(10))
    }

    @Test("a machine whose clock was put right is followed, and an answer that took long is not believed")
    func jumps() async throws {
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(-3_600))
        try await measure(clock, ahead: .seconds(30), taking: .seconds(3))
        #expect(clock.ahead == .seconds(-3_600))
        try await measure(clock, ahead: .zero)
        #expect(clock.ahead == .zero)
    }

    @Test("a machine whose clock jumps does not take the time along", arguments: [-3_600, 3_600])
    func machineJumps(seconds: Int) async throws {
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(7))
        let before = clock.now
        machine.jump(by: .seconds(seconds))
        #expect(clock.now == before)
        machine.advance(by: .seconds(4))
        #expect(clock.now == before + .seconds(4) && clock.ahead == .seconds(7 - seconds))
        // The database's time is what it was, so nothing is to be put right.
        try await measure(clock, ahead: .seconds(7 - seconds))
        #expect(clock.now == before + .seconds(4) + .milliseconds(2))
    }

    @Test("a database that does not answer leaves the time as it was")
    func silent() async throws {
        struct Gone: Error {}
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(5))
        await #expect(throws: Gone.self) { try await clock.measure { throw Gone() } }
        #expect(clock.ahead == .seconds(5))
    }
}
