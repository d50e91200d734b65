import Foundation

/// The APNs client beside clients of other projects: the same pushes to the same sink, one connection, one core each, in interleaved
/// rounds. Nothing of theirs is fetched or built here; a peer is a command that sends what its environment says.
struct PeersBenchmark {
    static let count = 100_000
    static let window = 100

    /// A client of another project.
    struct Peer {
        var name: String
        var command: String

        /// Reads `NAME=COMMAND`.
        init(_ word: String) throws {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CommandRun.Fault("a peer is NAME=COMMAND, not \(word)") }
            (name, command) = (parts[0], parts[1])
        }
    }

    /// What a peer, and `apns-load`, print.
    private struct Report: Decodable {
        var sent: Int
        var resident: Double
        var p99: Double
    }

    let load: String
    let sink: String
    let rounds: Int
    let peers: [Peer]
    let folder: URL

    func run() throws -> [Measurement] {
        let sink = try Sink(program: sink, folder: folder, ["--answers-per-record", "1"])
        defer { sink.stop() }
        let key = folder.appending(path: "key.p8").path
        _ = try CommandRun.client([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key,
        ])
        let environment = [
            "PEER_PORT": "\(sink.port)", "PEER_CERTIFICATE": sink.certificate, "PEER_KEY": key, "PEER_COUNT": "\(Self.count)",
            "PEER_WINDOW": "\(Self.window)", "PEER_BODY": Self.body,
        ]
        let ours = [
            load, "--port", "\(sink.port)", "--certificate", sink.certificate, "--mode", "pool", "--window", "\(Self.window)",
            "--count", "\(Self.count)", "--body", "\(Self.body.utf8.count)",
        ]
        var rows: [Measurement] = []
        for _ in 0..<rounds {
            note(&rows, "Clarion, an await for each push", try measure(ours, [:], sink))
            for peer in peers { note(&rows, peer.name, try measure(["sh", "-c", "exec \(peer.command)"], environment, sink)) }
        }
        return rows
    }

    /// An alert of the size of the other benchmarks of pushes.
    private static let body =
        #"{"aps":{"alert":""# + String(repeating: "x", count: PushBenchmark.bodySize - #"{"aps":{"alert":""}}"#.utf8.count)
        + #""}}"#

    private func measure(
        _ command: [String], _ environment: [String: String], _ sink: Sink
    ) throws -> (rate: Double, report: Report, excess: Int) {
        let before = try sink.totals().requests
        let run = try CommandRun.client(command, environment: environment)
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        return (Double(report.sent) / run.processor, report, try sink.totals().requests - before - Self.count)
    }

    private func note(_ rows: inout [Measurement], _ name: String, _ found: (rate: Double, report: Report, excess: Int)) {
        func add(_ what: String, _ value: Double, _ unit: String = "") {
            let name = "\(name): \(what)"
            if let index = rows.firstIndex(where: { $0.name == name }) {
                rows[index].values.append(value)
            } else {
                rows.append(Measurement(name: name, unit: unit, values: [value]))
            }
        }
        add("pushes for a second of processor time", found.rate)
        add("99 of 100 answered within", found.report.p99, "ms")
        add("resident memory, most", found.report.resident / 1_000_000, "MB")
        add("requests that came too many", Double(found.excess))
    }
}
