import ClarionTesting
import Foundation
import HTTPService
import Logging
import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServerObservability
import Testing

@testable import ServerComposition
@testable import ServerStorage

@Suite("A clock that is watched")
struct WatchedClockTests {
    private let machine = ManualClock()

    @Test("a step of the wall clock is noticed at the next reading", arguments: [-86_400, -7_200, -30, 30, 7_200, 86_400])
    func steps(seconds: Int) {
        let clock = WatchedClock(machine)
        machine.advance(by: .seconds(100))
        _ = clock.now
        machine.jump(by: .seconds(seconds))
        machine.advance(by: .seconds(1))
        #expect(clock.now == machine.now)
        #expect(clock.steps == [ClockStep(uptime: .seconds(101), distance: .seconds(seconds))])
        _ = clock.now
        #expect(clock.steps.count == 1)
    }

    @Test("time that passes is no step, and neither is a correction of a second")
    func noStep() {
        let clock = WatchedClock(machine)
        machine.advance(by: .seconds(3_600))
        _ = clock.now
        machine.jump(by: .milliseconds(1_999))
        _ = clock.now
        machine.jump(by: .milliseconds(-1_999))
        _ = clock.now
        #expect(clock.steps.isEmpty)
    }

    @Test("only the latest steps are kept")
    func bounded() {
        let clock = WatchedClock(machine)
        for number in 1...40 {
            machine.jump(by: .seconds(number + 1))
            _ = clock.now
        }
        #expect(clock.steps.count == WatchedClock.kept)
        #expect(clock.steps.last?.distance == .seconds(41))
    }

    @Test("only steps forward lengthen an age, and only for as long as they are recent")
    func advance() {
        let clock = WatchedClock(machine)
        for seconds in [100, -50, 7] {
            machine.jump(by: .seconds(seconds))
            _ = clock.now
        }
        #expect(clock.advance(within: .seconds(60)) == .seconds(107))
        #expect(clock.wasSet(within: .seconds(60)))
        machine.advance(by: .seconds(60))
        #expect(clock.advance(within: .seconds(60)) == .zero)
        #expect(!clock.wasSet(within: .seconds(60)))
    }
}

@Suite("The upkeep of the clock")
struct ClockUpkeepTests {
    private let machine = ManualClock()
    private let registry = PrometheusMetrics()
    private let notes = LogNotes()
    private let runs = NIOLockedValueBox(0)

    private func look(_ upkeep: ClockUpkeep, _ seen: inout ClockUpkeep.Seen) async {
        await upkeep.look(&seen, TroubleLog("failed", logger: notes.logger))
    }

    private func upkeep(_ clock: WatchedClock) -> ClockUpkeep {
        ClockUpkeep(clock: clock, factory: registry, logger: notes.logger) { [runs] _ in
            runs.withLockedValue { $0 += 1 }
            return 0
        }
    }

    private var steps: String? {
        registry.render().split(separator: "\n").first { $0.hasPrefix("clarion_clock_steps_total") }.map(String.init)
    }

    @Test("waits are checked once at the start and once after each step back")
    func repairs() async {
        let clock = WatchedClock(machine)
        let upkeep = upkeep(clock)
        var seen = ClockUpkeep.Seen()
        await look(upkeep, &seen)
        await look(upkeep, &seen)
        #expect(runs.withLockedValue { $0 } == 1)
        machine.jump(by: .seconds(-30))
        await look(upkeep, &seen)
        await look(upkeep, &seen)
        #expect(runs.withLockedValue { $0 } == 2)
        machine.advance(by: .seconds(1))
        machine.jump(by: .seconds(30))
        await look(upkeep, &seen)
        #expect(runs.withLockedValue { $0 } == 2)
    }

    @Test("a step that no process saw is logged as what it may be, and neither counted nor taken for a step forward")
    func unseen() async {
        let clock = WatchedClock(machine)
        clock.noteUnseenStep()
        var seen = ClockUpkeep.Seen()
        let upkeep = upkeep(clock)
        await look(upkeep, &seen)
        await look(upkeep, &seen)
        #expect(notes.lines.count { $0.message.contains("The last sweep lies") } == 1)
        #expect(steps == "clarion_clock_steps_total 0")
        #expect(clock.wasSet(within: .seconds(1)))
        #expect(clock.advance(within: .seconds(3_600)) == .zero)
    }

    @Test("steps within a minute of a logged one are logged together when it is over, with their number and sum")
    func late() async {
        let clock = WatchedClock(machine)
        let upkeep = upkeep(clock)
        var seen = ClockUpkeep.Seen()
        for seconds in [-30, 45, -5] {
            machine.advance(by: .seconds(1))
            machine.jump(by: .seconds(seconds))
            await look(upkeep, &seen)
        }
        machine.advance(by: .seconds(57))
        await look(upkeep, &seen)
        #expect(notes.lines.count == 1)
        for _ in 0..<120 {
            machine.advance(by: .seconds(1))
            await look(upkeep, &seen)
        }
        #expect(notes.lines.count == 2)
        #expect(notes.lines.last?.metadata == ["count": "2", "step_ms": "40000"])
    }

    @Test("each step is counted, and steps are logged once a minute at most")
    func counted() async {
        let clock = WatchedClock(machine)
        let upkeep = upkeep(clock)
        var seen = ClockUpkeep.Seen()
        for seconds in [-30, 30, -30] {
            machine.advance(by: .seconds(1))
            machine.jump(by: .seconds(seconds))
            await look(upkeep, &seen)
        }
        #expect(steps == "clarion_clock_steps_total 3")
        #expect(notes.lines.count { $0.message.contains("The wall clock was set") } == 1)
        machine.advance(by: .seconds(60))
        machine.jump(by: .seconds(7_200))
        await look(upkeep, &seen)
        #expect(notes.lines.last?.message.contains("set forward") == true)
    }
}

@Suite("Sweeps after a step of the clock")
struct SweepPauseTests {
    /// Runs a sweep on a clock that has just been set, and expects that its first turn comes after an hour.
    private func expectRest(_ clock: WatchedClock, of machine: ManualClock) async {
        let turns = NIOLockedValueBox(0)
        let upkeep = Upkeep(
            name: .devices, interval: .seconds(600), failure: "failed", clock: clock, logger: LogNotes().logger,
            turn: {
                turns.withLockedValue { $0 += 1 }
                return 0
            })
        let work = Task { await upkeep.run(metrics: SweepMetrics(factory: PrometheusMetrics())) }
        for _ in 1...60 {
            while machine.sleeperCount == 0 { await Task.yield() }
            #expect(turns.withLockedValue { $0 } == 0)
            machine.advance(by: .seconds(60))
        }
        while turns.withLockedValue({ $0 }) == 0 { await Task.yield() }
        work.cancel()
        await work.value
    }

    @Test("a sweep rests for an hour after the wall clock was set, and then works again")
    func pause() async throws {
        let machine = ManualClock()
        let clock = WatchedClock(machine)
        machine.jump(by: .seconds(86_400))
        await expectRest(clock, of: machine)
    }

    /// The clock of a node that starts so long after its database was swept.
    private func clock(_ machine: ManualClock, startedAfter gap: Duration?) async throws -> WatchedClock {
        let folder = NSTemporaryDirectory() + "clarion-sweeps-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        if let gap {
            let storage = try await NodeStorage.open(settings, access: .server, clock: machine)
            try await storage.backendStore.noteSweep(at: machine.now - gap)
            await storage.close()
        }
        let storage = try await NodeStorage.open(settings, access: .server, clock: machine)
        await storage.close()
        return storage.clock
    }

    @Test("a node that starts on a clock that was set while it was down rests as well", arguments: [365, -365])
    func restart(days: Int) async throws {
        let machine = ManualClock()
        await expectRest(try await clock(machine, startedAfter: .seconds(days * 86_400)), of: machine)
    }

    @Test(
        "a node that was down for a day sweeps at once, and so does a new one",
        arguments: [nil, .zero, .seconds(-1), .seconds(86_400)] as [Duration?])
    func usualStart(gap: Duration?) async throws {
        #expect(try await clock(ManualClock(), startedAfter: gap).steps.isEmpty)
    }
}
