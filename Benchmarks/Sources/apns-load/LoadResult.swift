import APNsProtocol
import Foundation

/// What one run came to.
struct LoadResult: Sendable {
    var sent = 0
    var accepted = 0
    var seconds = 0.0
    /// Seconds of processor time for the pushes, without the start of the process.
    var processor = 0.0
    /// Bytes when a tenth of the batches was sent, at the end of the run, and at the most.
    var residentEarly = 0
    var resident = 0
    var residentPeak = 0
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
        residentEarly = max(residentEarly, other.residentEarly)
    }

    var line: String {
        String(
            format: """
                {"sent":%d,"accepted":%d,"seconds":%.4f,"processor":%.4f,"residentEarly":%d,"resident":%d,\
                "residentPeak":%d,"connections":%d,"mostConnections":%d,"steadyRate":%.1f,"p50":%.4f,"p99":%.4f}
                """,
            sent, accepted, seconds, processor, residentEarly, resident, residentPeak, connections, mostConnections, steadyRate,
            latency.quantile(0.5), latency.quantile(0.99))
    }
}
