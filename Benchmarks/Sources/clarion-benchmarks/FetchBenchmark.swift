import Foundation

/// Fetches of contents over TLS from the built program: a picture beside nginx with the same file, a storm of phones, and a storm of
/// people who sign in for the first time. The servers have one core, the callers the other.
struct FetchBenchmark {
    static let pictures = 20_000
    static let phones = 50_000
    /// How much more processor time than nginx's a fetch of the picture may take.
    private static let ratioLimit = 2.0
    private static let lateLimit = 1000.0
    private static let stormLimit = 10.0

    let program: String
    /// `fetch-load`.
    let load: String
    let rounds: Int
    let folder: URL

    /// What `fetch-load` prints.
    fileprivate struct Report: Decodable {
        var requests: Int
        var seconds: Double
        var median: Double
        var late: Double
        var last: Double
        var statuses: [String: Int]

        func count(_ status: Int) -> Double { Double(statuses["\(status)"] ?? 0) }
    }

    func run() throws -> [Measurement] {
        let stage = try FetchStage(program: program, load: load, folder: folder)
        defer { stage.stop() }
        var rows: [Measurement] = []
        func note(_ name: String, _ value: Double, _ unit: String = "", limit: Double? = nil) {
            if let index = rows.firstIndex(where: { $0.name == name }) {
                rows[index].values.append(value)
            } else {
                rows.append(Measurement(name: name, unit: unit, values: [value], limit: limit))
            }
        }
        for _ in 0..<rounds {
            let reference = try fetches(stage.nginx, stage.nginxPort, stage.path("nginx"), connections: 64, Self.pictures)
            let own = try fetches(stage.clarion, stage.port, stage.path("picture"), connections: 64, Self.pictures)
            note("100 KiB picture, nginx, per second", reference.report.rate)
            note("100 KiB picture, clarion with Basic, per second", own.report.rate)
            note("100 KiB picture, nginx, processor time of one", reference.microseconds, "µs")
            note("100 KiB picture, clarion with Basic, processor time of one", own.microseconds, "µs")
            note("that, times nginx's", own.microseconds / reference.microseconds, limit: Self.ratioLimit)
            let storm = try fetches(stage.clarion, stage.port, stage.path("thumbs"), connections: 1_000, Self.phones)
            note("50,000 fetches of a 10 KiB thumb, 1,000 connections", storm.report.seconds, "s", limit: Self.stormLimit)
            note("their latency, 99 of 100 below", storm.report.late, "ms", limit: Self.lateLimit)
            note("their processor time of one", storm.microseconds, "µs")
            let (attempts, others) = try signIns(stage)
            note("storm of sign-ins: answered 503", attempts.count(503))
            note("storm of sign-ins: answered 200", attempts.count(200))
            note("storm of sign-ins: answered 401 and 429", attempts.count(401) + attempts.count(429))
            note("fetches, sends and health beside it, median", others.median, "ms")
            note("fetches, sends and health beside it, 99 of 100 below", others.late, "ms", limit: Self.lateLimit)
            note("fetches, sends and health beside it, refused", Double(others.requests) - others.count(200) - others.count(201))
            note("resident memory, most", try stage.clarion.peakMegabytes(), "MB")
        }
        return rows
    }

    private func fetches(
        _ server: ServerProcess, _ port: UInt16, _ requests: String, connections: Int, _ count: Int
    ) throws -> (report: Report, microseconds: Double) {
        let before = try server.processorSeconds()
        let run = try CommandRun.client([load, "\(port)", "\(connections)", "\(count)", "120", requests], core: 1)
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        guard report.count(200) == Double(count) else {
            throw CommandRun.Fault("not every fetch was answered 200: \(run.output)")
        }
        return (report, (try server.processorSeconds() - before) / Double(count) * 1_000_000)
    }

    /// For ten seconds two hundred connections sign in without a pause, whatever the answer; beside them 5,000 other requests.
    private func signIns(_ stage: FetchStage) throws -> (attempts: Report, others: Report) {
        let storm = try RunningCommand(
            CommandRun.pinned(to: 1, [load, "\(stage.port)", "200", "1000000", "10", stage.path("sign-ins")]))
        Thread.sleep(forTimeInterval: 1)
        let others = try CommandRun.client([load, "\(stage.port)", "50", "5000", "60", stage.path("others")], core: 1)
        let attempts = try storm.output()
        return (
            try JSONDecoder().decode(Report.self, from: Data(attempts.utf8)),
            try JSONDecoder().decode(Report.self, from: Data(others.output.utf8))
        )
    }
}

extension FetchBenchmark.Report {
    fileprivate var rate: Double { Double(requests) / seconds }
}
