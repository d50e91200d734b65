import NIOConcurrencyHelpers

/// The frames of every connection: the newest in full, all of them counted. Thread-safe.
final class TrafficRecorder: Sendable {
    private struct State {
        var frames: RecentEntries<FrameRecord>
        /// By connection.
        var statistics: [Int: TrafficStatistics] = [:]
        var connections: RecentEntries<Int>
        /// Grows when the counts begin anew; a connection that counted before has to begin anew too.
        var generation = 0
    }

    /// How many connections are told apart.
    private static let keptConnections = 10_000

    let isOn: Bool
    private let state: NIOLockedValueBox<State>

    init(frames: Int) {
        isOn = frames > 0
        state = NIOLockedValueBox(
            State(frames: RecentEntries(capacity: frames), connections: RecentEntries(capacity: Self.keptConnections)))
    }

    /// Oldest first.
    var frames: [FrameRecord] { state.withLockedValue { $0.frames.elements } }

    var statistics: [Int: TrafficStatistics] { state.withLockedValue { $0.statistics } }

    /// The number of the present count.
    var generation: Int { state.withLockedValue { $0.generation } }

    /// Counts from nothing.
    func clearStatistics() {
        state.withLockedValue { state in
            state.statistics.removeAll()
            state.connections = RecentEntries(capacity: Self.keptConnections)
            state.generation += 1
        }
    }

    /// Forgets the frames.
    func clearFrames() { state.withLockedValue { $0.frames = RecentEntries(capacity: $0.frames.capacity) } }

    /// Takes in some frames of a connection and what it has counted by now.
    func record(_ frames: [FrameRecord], connection: Int, statistics: TrafficStatistics) {
        state.withLockedValue { state in
            for frame in frames { state.frames.append(frame) }
            let isNew = state.statistics.updateValue(statistics, forKey: connection) == nil
            if isNew, let forgotten = state.connections.append(connection) { state.statistics[forgotten] = nil }
        }
    }
}
