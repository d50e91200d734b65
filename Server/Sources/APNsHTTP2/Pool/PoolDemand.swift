import NIOCore

/// How many connections the offered load needs: what comes in per second, over what one busy connection carries.
///
/// A connection to APNs is limited by its window (APNs reference 1.5 and 9.3), so bytes are counted and not pushes. Both rates
/// are measured in short spans; nothing is known before a connection was busy for a whole one.
struct PoolDemand {
    private static let span = TimeAmount.milliseconds(100)
    /// In how many seconds a backlog ought to be gone: within the deadline of a push, and slowly enough that what piled up while
    /// connections were made does not lead to connections that nobody needs afterwards.
    private static let catchUp = 20.0

    private var spanStart: NIODeadline?
    private var offered = 0
    private var written = 0
    private var wasBusy = true
    private var connections = 0
    /// Bytes a second.
    private var offeredRate = 0.0
    private var carried: Double?

    /// Of a body, in bytes, lately.
    private(set) var meanSize = 0

    /// A push came in.
    mutating func offer(_ bytes: Int) {
        offered += bytes
        // Rounded up, so that it arrives.
        meanSize += (bytes - meanSize + 15) / 16
    }

    mutating func write(_ bytes: Int) { written += bytes }

    /// Call once per turn. `connections` are those whose first request was answered.
    mutating func note(isBacklogged: Bool, connections: Int, at now: NIODeadline) {
        if !isBacklogged { wasBusy = false }
        guard let spanStart else { return begin(at: now, isBacklogged: isBacklogged, connections: connections) }
        let elapsed = now - spanStart
        guard elapsed >= Self.span else { return }
        let seconds = Double(elapsed.nanoseconds) / 1_000_000_000
        offeredRate += (Double(offered) / seconds - offeredRate) * min(1, 0.2 * seconds / 0.1)
        // A connection that joined within the span has not carried its share yet, so a span of growth says nothing.
        if wasBusy, connections > 0, connections == self.connections, written > 0 {
            let rate = Double(written) / seconds / Double(connections)
            carried = carried.map { $0 + (rate - $0) * 0.3 } ?? rate
        }
        begin(at: now, isBacklogged: isBacklogged, connections: connections)
    }

    /// The number of connections that carry what comes in and what waits; `nil` when there is no measurement yet.
    func wanted(backlog: Int) -> Int? {
        guard let carried, carried > 0 else { return nil }
        return max(1, Int(((offeredRate + Double(backlog) / Self.catchUp) / carried).rounded(.up)))
    }

    private mutating func begin(at now: NIODeadline, isBacklogged: Bool, connections: Int) {
        spanStart = now
        offered = 0
        written = 0
        wasBusy = isBacklogged
        self.connections = connections
    }
}
