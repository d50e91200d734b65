import APNsProtocol
import Foundation

/// What one run came to.
struct LoadResult: Sendable {
    var sent = 0
    var accepted = 0
    var seconds = 0.0
    /// Seconds of processor time for the pushes, without the start of the process.
    var processor = 0.0
    /// Bytes at the end of the run.
    var resident = 0
    var connections = 0
    /// The most connections seen while the rate was held.
    var mostConnections = 0
    var latency = LatencyRecord()
    /// Pushes a second over the second half of a run at a rate.
    var steadyRate = 0.0

    mutating func add(_ outcomes: [APNsOutcome]) {
        sent += outcomes.count
        for case .accepted in outcomes { accepted += 1 }
    }

    mutating func add(_ outcome: APNsOutcome) {
        sent += 1
        if case .accepted = outcome { accepted += 1 }
    }

    mutating func add(_ other: LoadResult) {
        sent += other.sent
        accepted += other.accepted
        latency.add(other.latency)
    }

    var line: String {
        String(
            format: """
                {"sent":%d,"accepted":%d,"seconds":%.4f,"processor":%.4f,"resident":%d,"connections":%d,\
                "mostConnections":%d,"steadyRate":%.1f,"p50":%.4f,"p99":%.4f}
                """,
            sent, accepted, seconds, processor, resident, connections, mostConnections, steadyRate, latency.quantile(0.5),
            latency.quantile(0.99))
    }
}
