import Foundation

/// The APNs client beside h2load: the same sink, the same body, TLS 1.3, one core each, in interleaved rounds.
struct PushBenchmark {
    static let bodySize = 188
    static let windows = [1, 10, 100, 1000]
    /// In both every push is counted alike, so that the start of a process weighs as much.
    static let counts = [1: 10_000, 10: 100_000, 100: 400_000, 1000: 1_000_000]

    /// How the sink answers.
    private struct Answers {
        /// How many share a TLS record: one, as a service does that answers each stream when it is done, and all that there are (0),
        /// as only a server can that holds answers back.
        var perRecord: Int
        var encoding = Encoding.literal
        var windows = PushBenchmark.windows
    }

    /// How the header block of an answer is written.
    enum Encoding: String, Encodable {
        /// The id Huffman-coded, and not entered into the client's table: the fewest bytes and the least work for either client.
        case literal
        /// The id plain, with an entry in the table each time, as Netty writes headers.
        case indexed
    }

    private static let answers = [
        Answers(perRecord: 1), Answers(perRecord: 1, encoding: .indexed, windows: [100, 1000]), Answers(perRecord: 0),
    ]

    /// What is measured beside h2load: how pushes are handed over, and on how many event loops.
    private struct Client {
        var name: String
        var mode: String
        var loops = 1
    }

    private static let clients = ["batch", "loop", "pool"].map { Client(name: $0, mode: $0) }
    /// Two loops on the one core that clients have here: what the second one costs, not what it gains.
    private static let spread = ["batch", "pool"].map { Client(name: "\($0), 2 loops", mode: $0, loops: 2) }

    let load: String
    let sink: String
    let rounds: Int
    let folder: URL

    /// One line of the table.
    struct Row: Encodable {
        /// How many answers share a TLS record; 0 for as many as there are.
        var answersPerRecord: Int
        var encoding: Encoding
        var client: String
        var window: Int
        /// Pushes for each second of the client's processor time, median of the rounds.
        var perProcessorSecond: Double
        var processorSecondsPer100k: Double
        var perSecond: Double
        /// Against h2load in the same rounds.
        var ratio: Double?
        var p50Milliseconds: Double?
        var p99Milliseconds: Double?
        var residentMegabytes: Double?
        var bytesPerPush: Double
    }

    private struct Sample {
        var perProcessorSecond: Double
        var perSecond: Double
        var p50: Double?
        var p99: Double?
        var resident: Double?
        var bytes: Double
    }

    /// What `apns-load` prints.
    private struct LoadReport: Decodable {
        var sent: Int
        var seconds: Double
        var resident: Double
        var p50: Double
        var p99: Double
    }

    func run() throws -> [Row] {
        let body = folder.appending(path: "body")
        try Data(repeating: 0x78, count: Self.bodySize).write(to: body)
        var rows: [Row] = []
        for answers in Self.answers {
            let encoding = answers.encoding == .indexed ? ["--index-ids"] : []
            let sink = try Sink(program: sink, folder: folder, ["--answers-per-record", "\(answers.perRecord)"] + encoding)
            defer { sink.stop() }
            for window in answers.windows { rows += try measure(window, answers, body: body.path, sink) }
        }
        return rows
    }

    private func measure(_ window: Int, _ answers: Answers, body: String, _ sink: Sink) throws -> [Row] {
        let clients = window < 1000 ? Self.clients : Self.clients + Self.spread
        var samples: [String: [Sample]] = [:]
        for _ in 0..<rounds {
            samples["h2load", default: []].append(try peer(window, body: body, sink))
            for client in clients { samples[client.name, default: []].append(try ours(client, window, sink)) }
        }
        return (["h2load"] + clients.map(\.name)).map { name in
            row(name, window, answers, samples[name] ?? [], against: samples["h2load"] ?? [])
        }
    }

    private func peer(_ window: Int, body: String, _ sink: Sink) throws -> Sample {
        let count = Self.counts[window] ?? 0
        let before = try sink.totals()
        let run = try CommandRun.client(peerCommand(window, count, body, sink))
        guard run.output.contains("\(count) succeeded") else { throw CommandRun.Fault("h2load did not succeed") }
        let bytes = Double(try sink.totals().bytesIn - before.bytesIn) / Double(count)
        // Another run, because writing down every request takes time.
        let log = folder.appending(path: "h2load.log")
        try? FileManager.default.removeItem(at: log)
        _ = try CommandRun.client(peerCommand(window, count / 4, body, sink) + ["--log-file=\(log.path)"])
        let latencies = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
            .compactMap { $0.split(separator: "\t").last.flatMap { Double($0) } }.sorted()
        return Sample(
            perProcessorSecond: Double(count) / run.processor, perSecond: Double(count) / run.seconds,
            p50: latencies.isEmpty ? nil : latencies[latencies.count / 2] / 1000,
            p99: latencies.isEmpty ? nil : latencies[latencies.count * 99 / 100] / 1000, bytes: bytes)
    }

    /// h2load sends the same headers with every request, so its id is one of the same size that never changes.
    private func peerCommand(_ window: Int, _ count: Int, _ body: String, _ sink: Sink) -> [String] {
        [
            "h2load", "-n", "\(count)", "-c", "1", "-m", "\(window)", "-d", body, "-H", "apns-topic: com.example.app", "-H",
            "apns-push-type: alert", "-H", "apns-priority: 10", "-H", "apns-expiration: 0", "-H",
            "apns-id: 0f1e2d3c-4b5a-4697-8877-665544332211", "-H",
            "authorization: bearer " + String(repeating: "a1", count: 92),
            "https://127.0.0.1:\(sink.port)/3/device/" + String(repeating: "0f", count: 32),
        ]
    }

    private func ours(_ client: Client, _ window: Int, _ sink: Sink) throws -> Sample {
        let count = Self.counts[window] ?? 0
        let before = try sink.totals()
        let run = try CommandRun.client([
            load, "--port", "\(sink.port)", "--certificate", sink.certificate, "--mode", client.mode, "--window", "\(window)",
            "--loops", "\(client.loops)", "--count", "\(count)", "--body", "\(Self.bodySize)",
        ])
        let report = try JSONDecoder().decode(LoadReport.self, from: Data(run.output.utf8))
        let bytes = Double(try sink.totals().bytesIn - before.bytesIn) / Double(report.sent)
        return Sample(
            perProcessorSecond: Double(report.sent) / run.processor, perSecond: Double(report.sent) / report.seconds,
            p50: report.p50, p99: report.p99, resident: report.resident / 1_000_000, bytes: bytes)
    }

    private func row(_ client: String, _ window: Int, _ answers: Answers, _ samples: [Sample], against peer: [Sample]) -> Row {
        let rate = Self.median(samples.map(\.perProcessorSecond))
        let reference = Self.median(peer.map(\.perProcessorSecond))
        return Row(
            answersPerRecord: answers.perRecord, encoding: answers.encoding, client: client, window: window,
            perProcessorSecond: rate,
            processorSecondsPer100k: 100_000 / rate, perSecond: Self.median(samples.map(\.perSecond)),
            ratio: client == "h2load" ? nil : rate / reference,
            p50Milliseconds: Self.optionalMedian(samples.compactMap(\.p50)),
            p99Milliseconds: Self.optionalMedian(samples.compactMap(\.p99)),
            residentMegabytes: Self.optionalMedian(samples.compactMap(\.resident)),
            bytesPerPush: Self.median(samples.map(\.bytes)))
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    static func optionalMedian(_ values: [Double]) -> Double? { values.isEmpty ? nil : median(values) }
}
