import Foundation

/// What a push to Android costs the sender's side, beside h2load with the same body: the same sink, one core each, in interleaved rounds.
/// Then how many leave when the answers take as long as those of a server far away.
struct FCMBenchmark {
    private static let count = 200_000
    private static let bodySize = 188
    /// As many requests as Google takes on a connection.
    private static let streams = 100
    /// At least 20,000 pushes a second of processor time.
    private static let limit = 50.0
    /// Milliseconds until an answer.
    private static let distances = [50, 100]
    private static let farCount = 120_000
    /// Seconds for as many: the quota of a project, 10,000 a second.
    private static let farLimit = 12.0

    let load: String
    let sink: String
    let rounds: Int
    let folder: URL

    func run() throws -> [Measurement] {
        let body = folder.appending(path: "body")
        // With the target that is spliced in.
        try Data(repeating: 0x78, count: Self.bodySize + 170).write(to: body)
        let sink = try Sink(program: sink, folder: folder, ["--answers-per-record", "1", "--streams", "\(Self.streams)"])
        defer { sink.stop() }
        var (ours, peer): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            peer.append(try CommandRun.client(peerCommand(body.path, sink)).processor)
            ours.append(
                try CommandRun.client([
                    load, "--mode", "fcm", "--port", "\(sink.port)", "--certificate", sink.certificate, "--count",
                    "\(Self.count)",
                    "--body", "\(Self.bodySize)",
                ]).processor)
        }
        let scale = 1_000_000 / Double(Self.count)
        return [
            Measurement(name: "a push to FCM", unit: "µs", values: ours.map { $0 * scale }, limit: Self.limit),
            Measurement(name: "the same by h2load", unit: "µs", values: peer.map { $0 * scale }),
            Measurement(name: "ratio", unit: "×", values: zip(ours, peer).map { $0 / $1 }),
        ] + (try Self.distances.flatMap(far))
    }

    /// What `apns-load` prints.
    private struct LoadReport: Decodable {
        var sent: Int
        var seconds: Double
        var processor: Double
    }

    /// With as many connections and batches under way as a node has.
    private func far(_ milliseconds: Int) throws -> [Measurement] {
        let sink = try Sink(program: sink, folder: folder, ["--delay-ms", "\(milliseconds)", "--streams", "\(Self.streams)"])
        defer { sink.stop() }
        let reports = try (0..<rounds).map { _ in
            let run = try CommandRun.client([
                load, "--mode", "fcm", "--port", "\(sink.port)", "--certificate", sink.certificate, "--count", "\(Self.farCount)",
                "--body", "\(Self.bodySize)", "--connections", "16", "--callers", "3",
            ])
            return try JSONDecoder().decode(LoadReport.self, from: Data(run.output.utf8))
        }
        return [
            Measurement(
                name: "\(Self.farCount) pushes to FCM, \(milliseconds) ms away", unit: "s", values: reports.map(\.seconds),
                limit: Self.farLimit),
            Measurement(
                name: "one of them", unit: "µs", values: reports.map { $0.processor * 1_000_000 / Double($0.sent) }),
            Measurement(name: "connections at most", unit: "", values: [Double(try sink.totals().peak)]),
        ]
    }

    private func peerCommand(_ body: String, _ sink: Sink) -> [String] {
        [
            "h2load", "-n", "\(Self.count)", "-c", "1", "-m", "\(Self.streams)", "-d", body, "-H",
            "content-type: application/json",
            "-H", "authorization: Bearer " + String(repeating: "a1", count: 92),
            "https://127.0.0.1:\(sink.port)/v1/projects/bench-project/messages:send",
        ]
    }
}
