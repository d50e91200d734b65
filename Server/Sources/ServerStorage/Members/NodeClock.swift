import RichPushModel
import Synchronization

/// The clock of a node that shares its database: the machine's clock, corrected by the database's, so that the times which nodes
/// compare (leases, schedules, expiries) come from one clock however wrong a machine's is.
///
/// It is never ahead of the database's: the database may have read its clock at any moment of a request, and the earliest counts. So
/// nothing is sent early, and at most late by the time of an answer's way back.
///
/// Between two answers time advances by the machine's uptime, so that a step of the machine's clock neither sends a push early nor
/// expires one that is due.
package final class NodeClock: ServiceClock {
    /// An answer that took longer is too inaccurate.
    private static let longestQuestion: Duration = .seconds(2)
    /// Less than this is noise of the way there.
    private static let noise: Duration = .milliseconds(5)

    private let machine: any ServiceClock
    private let anchor = Mutex<Anchor?>(nil)

    /// What the time was at a moment of the machine's uptime.
    private struct Anchor {
        var time: Timestamp
        var uptime: Duration

        func time(at uptime: Duration) -> Timestamp { time + (uptime - self.uptime) }
    }

    package init(_ machine: any ServiceClock) { self.machine = machine }

    package var now: Timestamp { anchor.withLock { $0?.time(at: machine.uptime) } ?? machine.now }
    package var uptime: Duration { machine.uptime }
    package func sleep(for duration: Duration) async throws { try await machine.sleep(for: duration) }

    /// How far the database is ahead of the machine.
    package var ahead: Duration { now - machine.now }

    /// Asks once and takes over what the length of the question does not explain.
    package func measure(_ time: () async throws -> Timestamp) async throws {
        let asked = machine.uptime
        let shared = try await time()
        let answered = machine.uptime
        let length = answered - asked
        // The time is at least what the answer says, plus the time of its way back, which is an unknown part of the length.
        let found = Anchor(time: shared, uptime: answered)
        anchor.withLock { anchor in
            guard let known = anchor else {
                anchor = found
                return
            }
            let expected = known.time(at: answered)
            let (isBehind, isAhead) = (expected + Self.noise < shared, expected > shared + length)
            guard length <= Self.longestQuestion, isBehind || isAhead else { return }
            anchor = found
        }
    }
}

/// A clock that notices when the wall clock was set, by comparing it with the uptime at every reading.
package final class WatchedClock: ServiceClock {
    /// A smaller difference between two readings is no step: the system may draw a clock out or in that slowly.
    static let smallestStep: Duration = .seconds(2)
    /// So many of the latest steps are kept.
    static let kept = 32
    /// A process that was stopped in the middle of a reading cannot compare the two times.
    private static let longestReading: Duration = .milliseconds(100)

    private struct State {
        var last: (now: Timestamp, uptime: Duration)
        var steps: [ClockStep] = []

        mutating func note(_ now: Timestamp, at uptime: Duration) {
            guard uptime >= last.uptime else { return }
            let distance = (now - last.now) - (uptime - last.uptime)
            last = (now, uptime)
            guard distance >= smallestStep || distance <= .zero - smallestStep else { return }
            steps = (steps + [ClockStep(uptime: uptime, distance: distance)]).suffix(kept)
        }
    }

    private let base: any ServiceClock
    private let state: Mutex<State>

    init(_ base: any ServiceClock) {
        self.base = base
        state = Mutex(State(last: (base.now, base.uptime)))
    }

    package var now: Timestamp {
        let asked = base.uptime
        let now = base.now
        let uptime = base.uptime
        if uptime - asked <= Self.longestReading { state.withLock { $0.note(now, at: uptime) } }
        return now
    }

    /// Notes that the clock may have been set before this process could watch it.
    func noteUnseenStep() { state.withLock { $0.steps.append(ClockStep(uptime: base.uptime, distance: .zero)) } }

    package var uptime: Duration { base.uptime }
    package var steps: [ClockStep] { state.withLock { $0.steps } }
    package func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
}
