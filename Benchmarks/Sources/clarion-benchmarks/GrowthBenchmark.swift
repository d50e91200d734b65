import Foundation

/// Millions of pushes at full speed in one process: what memory it takes, and whether it grows.
struct GrowthBenchmark {
    static let count = 5_000_000
    /// Megabytes.
    static let peakLimit = 48.0
    /// Megabytes. What an allocator may do in between; a byte kept for each push would be more.
    static let growthLimit = 2.0

    let load: String
    let sink: String
    let folder: URL

    struct Row: Encodable {
        var pushes: Int
        var perSecond: Double
        /// When a tenth of the pushes was sent.
        var earlyMegabytes: Double
        var lateMegabytes: Double
        var peakMegabytes: Double

        var growthMegabytes: Double { lateMegabytes - earlyMegabytes }
        var isWithinLimits: Bool { peakMegabytes < GrowthBenchmark.peakLimit && growthMegabytes < GrowthBenchmark.growthLimit }
    }

    private struct LoadReport: Decodable {
        var sent: Int
        var seconds: Double
        var residentEarly: Double
        var resident: Double
        var residentPeak: Double
    }

    func run() throws -> Row {
        let sink = try Sink(program: sink, folder: folder, ["--answers-per-record", "1"])
        defer { sink.stop() }
        let run = try CommandRun.client([
            load, "--port", "\(sink.port)", "--certificate", sink.certificate, "--window", "1000", "--count", "\(Self.count)",
            "--body", "\(PushBenchmark.bodySize)",
        ])
        let report = try JSONDecoder().decode(LoadReport.self, from: Data(run.output.utf8))
        return Row(
            pushes: report.sent, perSecond: Double(report.sent) / report.seconds,
            earlyMegabytes: report.residentEarly / 1_000_000, lateMegabytes: report.resident / 1_000_000,
            peakMegabytes: report.residentPeak / 1_000_000)
    }
}
