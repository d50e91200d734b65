import RichPushModel
import Synchronization

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

    package var uptime: Duration { base.uptime }
    package var steps: [ClockStep] { state.withLock { $0.steps } }
    package func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
}
