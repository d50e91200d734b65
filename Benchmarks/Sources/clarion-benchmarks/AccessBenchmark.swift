import Foundation

/// What the credential of a caller costs, what the audit adds to a send at 64 callers, and what a push for a browser costs.
struct AccessBenchmark {
    private static let sends = 20_000
    private static let shares: Set = [
        "audit, of the processor time of a send", "audit, of the time of a send", "web push, encryption over the two alone",
        "web push, whole over the two alone",
    ]
    private static let limits = [
        "token, RS256": 50.0, "token, ES256": 50, "service key": 5, "token but for its signature, RS256": 10,
        "token but for its signature, ES256": 10, "token but for its signature, EdDSA": 10,
        "audit, of the processor time of a send": 10, "web push, encryption": 125,
        "web push, encryption over the two alone": 100, "web push, whole over the two alone": 150,
    ]

    /// `access-costs`.
    let costs: String
    let sink: String
    let rounds: Int
    let folder: URL

    func run() throws -> [Measurement] {
        // As many requests as push services take on a connection.
        let sink = try Sink(program: sink, folder: folder, ["--streams", "100"])
        defer { sink.stop() }
        var values: [String: [Double]] = [:]
        for _ in 0..<rounds {
            let output = try CommandRun.client([costs, "\(Self.sends)", "\(sink.port)", sink.certificate]).output
            let figures = try JSONDecoder().decode([String: Double].self, from: Data(output.utf8))
            for (name, value) in figures { values[name, default: []].append(value) }
        }
        return values.keys.sorted().map { name in
            Measurement(
                name: name, unit: Self.shares.contains(name) ? "%" : "µs", values: values[name] ?? [], limit: Self.limits[name])
        }
    }
}
