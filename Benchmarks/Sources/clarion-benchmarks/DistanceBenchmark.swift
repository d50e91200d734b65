import Foundation

/// 40 ms away, with the windows that APNs has: what connections carry there, and how many the client opens
/// (Reference/APNs.md#9-3).
struct DistanceBenchmark {
    static let delay = 40
    static let window = 65_535

    let load: String
    let sink: String
    let folder: URL

    struct Row: Encodable {
        var bodySize: Int
        var offeredPerSecond: Int
        /// Pushes a second in the second half of the run.
        var carriedPerSecond: Double
        var connections: Int
        /// Half a window each round trip, over the offered rate.
        var neededConnections: Int
        /// Of 32,768 / (body x delay) on each connection.
        var shareOfCeiling: Double
        var p50Milliseconds: Double
        var p99Milliseconds: Double
        var overruns: Int
    }

    private struct LoadReport: Decodable {
        var steadyRate: Double
        var p50: Double
        var p99: Double
    }

    func run() throws -> [Row] {
        try [(1024, 20_000), (4096, 5_000)].map { try measure(bodySize: $0.0, rate: $0.1) }
    }

    private func measure(bodySize: Int, rate: Int) throws -> Row {
        let sink = try Sink(
            program: sink, folder: folder, ["--delay-ms", "\(Self.delay)", "--window", "\(Self.window)", "--warm-up"])
        defer { sink.stop() }
        let run = try CommandRun.client([
            load, "--port", "\(sink.port)", "--certificate", sink.certificate, "--mode", "rate", "--rate", "\(rate)", "--body",
            "\(bodySize)", "--seconds", "20",
        ])
        let report = try JSONDecoder().decode(LoadReport.self, from: Data(run.output.utf8))
        let totals = try sink.totals()
        let ceiling = 32_768 / (Double(bodySize) * Double(Self.delay) / 1000)
        return Row(
            bodySize: bodySize, offeredPerSecond: rate, carriedPerSecond: report.steadyRate, connections: totals.peak,
            neededConnections: Int((Double(rate) / ceiling).rounded(.up)),
            shareOfCeiling: report.steadyRate / (ceiling * Double(totals.peak)), p50Milliseconds: report.p50,
            p99Milliseconds: report.p99, overruns: totals.overruns)
    }
}
