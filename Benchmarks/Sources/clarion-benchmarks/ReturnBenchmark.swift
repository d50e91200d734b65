import Foundation

/// How soon a node goes on sending when APNs, which refused every connection for a while, is back: from the moment in which the sink
/// listens again to the arrival of the first push that waited.
struct ReturnBenchmark {
    /// Seconds, for each try.
    static let limit = 5.0
    private static let handle = String(repeating: "0123456789ABCDEF", count: 4)
    private static let body =
        #"{"aps":{"alert":""#
        + String(repeating: "x", count: PunctualityBenchmark.bodySize - #"{"aps":{"alert":""}}"#.utf8.count) + #""}}"#

    let program: String
    let sink: String
    let rounds: Int
    /// How long APNs is away in each round, in seconds.
    let absence: Int
    let folder: URL

    func run() throws -> [Measurement] {
        let sink = try Sink(program: sink, folder: folder, ["--marked-body", "\(PunctualityBenchmark.bodySize)"])
        defer { sink.stop() }
        let key = folder.appending(path: "key.p8")
        _ = try CommandRun.client([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key.path,
        ])
        let data = folder.appending(path: "node")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        try CommandRun.begin(program, data: data.path)
        _ = try CommandRun.client([program, "hub", "create", "bench", "--data-directory", data.path])
        let node = try RunningNode(program: program, data: data, settings: [:], sink: sink, key: key)
        defer { node.server.stop() }
        let hub = try HubCaller(node)
        try hub.send(Self.body, to: Self.handle)
        _ = try arrival(after: 0, sink)
        let times = try (0..<rounds).map { _ in try round(hub, sink) }
        return [
            Measurement(
                name: "sending goes on after APNs' return", unit: "s", values: times, limit: Self.limit, isLimitForAll: true)
        ]
    }

    private func round(_ hub: HubCaller, _ sink: Sink) throws -> Double {
        let seen = try sink.totals().marked
        try sink.goAway()
        try hub.send(Self.body, to: Self.handle)
        sleep(UInt32(absence))
        let back = Date().timeIntervalSince1970
        try sink.comeBack()
        return try arrival(after: seen, sink) - back
    }

    /// When the next of the marked pushes arrived, in seconds since 1970.
    private func arrival(after seen: Int, _ sink: Sink) throws -> Double {
        for _ in 0..<60_000 {
            let totals = try sink.totals()
            if totals.marked > seen { return Double(totals.lastMarked) / 1_000_000 }
            usleep(2_000)
        }
        throw CommandRun.Fault("a push did not arrive")
    }
}
