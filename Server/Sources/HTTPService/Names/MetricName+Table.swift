/// What the name of a metric says of it, and the page that is made of all of them.
extension MetricName {
    /// The types of Prometheus that the server uses.
    public enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The type: counters end in `_total`; histograms in `_duration_seconds` or `_latency_seconds`; all others are gauges.
    public var kind: Kind {
        if rawValue.hasSuffix("_total") { return .counter }
        return rawValue.hasSuffix("_duration_seconds") || rawValue.hasSuffix("_latency_seconds") ? .histogram : .gauge
    }

    /// The unit, which Prometheus wants in the name; `count` for a plain number.
    public var unit: String {
        let words = rawValue.split(separator: "_")
        return words.contains("seconds") ? "seconds" : words.contains("bytes") ? "bytes" : "count"
    }

    /// The labels that every series of the metric has, besides `le` of a histogram's buckets.
    public var labels: [MetricLabel] {
        switch self {
        case .httpRequests: [.route, .method, .status]
        case .httpRequestDuration: [.route, .method]
        case .httpRequestErrors: [.code]
        case .httpConnectionsStalled, .apnsGoAways, .databaseFaults: [.reason]
        case .sendsEnded, .jobsEnded: [.state]
        case .pushOutcomes: [.result, .reason]
        case .slicesInHand: [.weight]
        case .slices: [.stage]
        case .nodes: [.role]
        case .apnsConnections: [.phase]
        case .databaseConnections, .databaseConnectionsInUse, .databaseWaiting: [.pool]
        case .databaseOperationDuration, .contentOperationDuration, .contentFaults: [.operation]
        case .sweepLastSuccess, .sweepRemoved: [.sweep]
        case .buildInfo: [.version]
        default: []
        }
    }

    /// Where the metric stands in the documentation.
    private var section: String {
        let words = rawValue.split(separator: "_")
        guard words[0] == "clarion", words.count > 1 else { return "The process" }
        return switch words[1] {
        case "http": "HTTP"
        case "apns": "The connection to APNs"
        case "database": "The database"
        case "content": "The content store"
        case "jobs", "sweep", "disk", "clock": "Upkeep"
        case "build": "The process"
        default: "Sends and pushes"
        }
    }

    private static let sections = [
        "Sends and pushes", "The connection to APNs", "HTTP", "The database", "The content store", "Upkeep", "The process",
    ]

    /// The tables of `Documentation/Metrics.md`: metrics by section, then labels and the keys of log lines.
    public static var markdown: String {
        let metrics = sections.map { section in
            let rows = allCases.filter { $0.section == section }.map { metric in
                let labels = metric.labels.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                return "| `\(metric.rawValue)` | \(metric.kind.rawValue) | \(metric.unit) | \(labels) | \(metric.help) |"
            }
            return ["## \(section)", "", "| Metric | Type | Unit | Labels | What it says |", "| --- | --- | --- | --- | --- |"]
                + rows
        }
        let keys = LogKey.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }
        let log = ["## Keys of log lines", "", "| Key | What it holds |", "| --- | --- |"] + keys
        return (metrics + [log]).map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }
}
