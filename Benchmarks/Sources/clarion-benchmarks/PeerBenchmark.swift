import Foundation

/// The same pushes to the same sink by clients of several makers, each once to each device token, in turn. Then each peer that keeps what
/// it took is killed in the middle and run once more. Documentation/Benchmarks.md says what a peer gets.
struct PeerBenchmark {
    struct Peer {
        var name: String
        /// For a shell.
        var command: String
    }

    private static let concurrency = 1000
    private static let bodySize = 188

    let sink: String
    let pushes: Int
    let rounds: Int
    let peers: [Peer]
    let folder: URL

    /// What one run came to, as the sink counted it.
    private struct Sample {
        var perProcessorSecond: Double
        var perSecond: Double
        var peakMegabytes: Double
        var p99: Double?
        var count: Count?
        var keeps: Bool
    }

    /// Pushes that never came, and those that came once more than they should.
    private struct Count {
        var lost: Int
        var doubled: Int
    }

    /// The lines of the table. Throws when a peer fails.
    func run() throws -> [String] {
        try writeWhatIsSent()
        var samples = peers.map { _ in [Sample]() }
        for _ in 0..<rounds {
            for (index, peer) in peers.enumerated() { samples[index].append(try measure(peer)) }
        }
        let head = [
            "", "per CPU second", "per second", "MB at the most", "p99 ms", "lost", "doubled", "killed after", "lost", "doubled",
        ]
        return PushReport.align([head] + (try zip(peers, samples).map(row)))
    }

    private func row(_ peer: Peer, _ samples: [Sample]) throws -> [String] {
        let counts = samples.compactMap(\.count)
        let counted = counts.isEmpty ? ["-", "-"] : ["\(counts.map(\.lost).max() ?? 0)", "\(counts.map(\.doubled).max() ?? 0)"]
        var killed = ["keeps nothing", "-", "-"]
        if samples.contains(where: \.keeps) {
            let (count, atKill) = try countAfterKill(of: peer)
            killed = ["\(atKill)", "\(count.lost)", "\(count.doubled)"]
        }
        return [
            peer.name, PushReport.show(PushBenchmark.median(samples.map(\.perProcessorSecond)), 0),
            PushReport.show(PushBenchmark.median(samples.map(\.perSecond)), 0),
            PushReport.show(samples.map(\.peakMegabytes).max(), 1),
            PushReport.show(PushBenchmark.optionalMedian(samples.compactMap(\.p99)), 1),
        ] + counted + killed
    }

    /// A device token for each push, which is its number, the body of all of them, and a signing key.
    private func writeWhatIsSent() throws {
        let lines = (1...pushes).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 64 - digits.count) + digits + "\n"
        }
        try lines.joined().write(to: tokens, atomically: true, encoding: .utf8)
        let text = String(repeating: "x", count: Self.bodySize - #"{"aps":{"alert":""}}"#.utf8.count)
        try #"{"aps":{"alert":"\#(text)"}}"#.write(to: body, atomically: true, encoding: .utf8)
        _ = try CommandRun.client([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key.path,
        ])
    }

    private var tokens: URL { folder.appending(path: "tokens") }
    private var body: URL { folder.appending(path: "body") }
    private var key: URL { folder.appending(path: "AuthKey_BENCHKEY00.p8") }

    private func measure(_ peer: Peer) throws -> Sample {
        let sink = try startSink()
        defer { sink.stop() }
        let place = try place()
        let run = try start(peer, sink, in: place, number: 1)
        try run.watch()
        let end = try naming(peer) { try run.end() }
        let totals = try sink.totals()
        return Sample(
            perProcessorSecond: Double(totals.requests) / end.processor, perSecond: Double(totals.requests) / end.seconds,
            peakMegabytes: run.peakMegabytes, p99: end.report.p99,
            count: end.report.isCounted == false ? nil : count(totals), keeps: end.report.keeps == true)
    }

    /// Killed when half has come, then run to its end in the same folder.
    private func countAfterKill(of peer: Peer) throws -> (Count, atKill: Int) {
        let sink = try startSink()
        defer { sink.stop() }
        let place = try place()
        let first = try start(peer, sink, in: place, number: 1)
        try first.kill { try sink.totals().devices >= pushes / 2 }
        let atKill = try sink.totals().devices
        let second = try start(peer, sink, in: place, number: 2)
        try second.watch()
        _ = try naming(peer) { try second.end() }
        return (count(try sink.totals()), atKill)
    }

    private func count(_ totals: Sink.Totals) -> Count {
        Count(lost: pushes - totals.devices, doubled: totals.toDevices - totals.devices)
    }

    private func startSink() throws -> Sink {
        try Sink(program: sink, folder: folder, ["--answers-per-record", "1", "--devices", "\(pushes)"])
    }

    /// An empty folder for a peer.
    private func place() throws -> URL {
        let place = folder.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    private func start(_ peer: Peer, _ sink: Sink, in place: URL, number: Int) throws -> PeerRun {
        try PeerRun(
            peer.command,
            environment: [
                "PEER_HOST": "127.0.0.1", "PEER_PORT": "\(sink.port)", "PEER_CERTIFICATE": sink.certificate,
                "SSL_CERT_FILE": sink.certificate, "PEER_KEY": key.path, "PEER_KEY_ID": "BENCHKEY00",
                "PEER_TEAM_ID": "BENCHTEAM0",
                "PEER_TOPIC": "com.example.app", "PEER_TOKENS": tokens.path, "PEER_BODY": body.path,
                "PEER_CONCURRENCY": "\(Self.concurrency)",
                "PEER_FOLDER": place.path, "PEER_RUN": "\(number)",
            ], folder: place)
    }

    private func naming<Result>(_ peer: Peer, _ act: () throws -> Result) throws -> Result {
        do { return try act() } catch { throw CommandRun.Fault("\(peer.name): \(error)") }
    }
}
