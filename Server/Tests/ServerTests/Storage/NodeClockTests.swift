import ClarionTesting
import RichPushModel
import Testing

@testable import ServerStorage

@Suite("The clock that nodes share")
struct NodeClockTests {
    private let machine = ManualClock()

    /// Measures against a database that is ahead, over a way there and a way back that take so long.
    private func measure(
        _ clock: NodeClock, ahead: Duration, there: Duration = .milliseconds(2), back: Duration = .zero
    ) async throws {
        try await clock.measure {
            machine.advance(by: there)
            let time = machine.now + ahead
            machine.advance(by: back)
            return time
        }
    }

    @Test("the time is the database's, however wrong the machine's is", arguments: [-3_600, -1, 0, 1, 3_600])
    func follows(seconds: Int) async throws {
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(seconds))
        #expect(clock.now == machine.now + .seconds(seconds))
        #expect(clock.ahead == .seconds(seconds))
        machine.advance(by: .seconds(60))
        #expect(clock.now == machine.now + .seconds(seconds))
        #expect(clock.uptime == machine.uptime)
    }

    @Test("the time is never ahead of the database's, whatever takes long on the way", arguments: [0, 1, 40, 1_000, 20_000])
    func notAhead(milliseconds: Int) async throws {
        for (there, back) in [(milliseconds, 0), (0, milliseconds), (milliseconds, milliseconds)] {
            let clock = NodeClock(machine)
            try await measure(clock, ahead: .seconds(9), there: .milliseconds(there), back: .milliseconds(back))
            #expect(clock.ahead == .seconds(9) - .milliseconds(back), "behind by the way back")
            try await measure(clock, ahead: .seconds(9))
            let left = back > 5 ? 0 : back
            #expect(clock.ahead == .seconds(9) - .milliseconds(left), "a quicker answer says better")
        }
    }

    @Test("what the way there and back explains changes nothing, so that the time does not tremble")
    func noise() async throws {
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(10))
        try await measure(clock, ahead: .seconds(10) + .milliseconds(4))
        #expect(clock.ahead == .seconds(10))
        for (there, back) in [(200, 0), (0, 200), (100, 100)] {
            try await measure(clock, ahead: .seconds(10), there: .milliseconds(there), back: .milliseconds(back))
            #expect(clock.ahead == .seconds(10))
        }
        try await measure(clock, ahead: .seconds(10) - .milliseconds(90), there: .milliseconds(100))
        #expect(clock.ahead == .seconds(10), "it may have taken the answer so long to come")
        try await measure(clock, ahead: .seconds(10) - .milliseconds(90), there: .milliseconds(50))
        #expect(clock.ahead == .seconds(10) - .milliseconds(90), "it cannot have")
    }

    @Test("a machine whose clock was put right is followed, and an answer that took long is not believed")
    func jumps() async throws {
        let clock = NodeClock(machine)
        try await measure(clock, ahead: .seconds(-3_600))
        try await measure(clock, ahead: .seconds(30), there: .seconds(3))
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
        #expect(clock.now == before + .seconds(4))
        #expect(clock.ahead == .seconds(7 - seconds))
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
