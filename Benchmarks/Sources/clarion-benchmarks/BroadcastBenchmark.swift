import Foundation

/// A send to every device of a hub through the built program, from the request to the last count, beside the same number of pushes
/// by the client alone: the same sink, the same core.
struct BroadcastBenchmark {
    static let devices = 1_000_000
    /// Of the body: what `clarion send` makes of the message.
    static let bodySize = 188
    /// How much more processor time a push of a broadcast may take than one of the client alone.
    static let ratioLimit = 2.5
    static let residentLimit = 150.0

    let program: String
    let load: String
    let sink: String
    /// `hub-pages`, which fills hubs.
    let filler: String
    let rounds: Int
    let folder: URL

    /// What one broadcast took.
    private struct Sample {
        var seconds: Double
        var processor: Double
        var peakMegabytes: Double
        /// Of PostgreSQL, all its processes together.
        var database: Double?
    }

    func run() throws -> [Measurement] {
        let sink = try Sink(program: sink, folder: folder, ["--marked-body", "\(PunctualityBenchmark.bodySize)"])
        defer { sink.stop() }
        try makeKey()
        let file = try makeNode()
        _ = try CommandRun.client([filler, "fill", file.appending(path: "clarion.sqlite").path, "bench", "\(Self.devices)"])
        let server = try ThrowAwayDatabase(folder: folder.appending(path: "postgresql"))
        defer { server.stop() }
        let settings = ["CLARION_DATABASE_URL": server.url]
        // The move puts the file aside.
        let moved = folder.appending(path: "moved")
        try FileManager.default.copyItem(at: file, to: moved)
        _ = try CommandRun.client([program, "database", "move", "--data-directory", moved.path], environment: settings)
        var rows: [Measurement] = []
        var bare: [Double] = []
        var samples: [String: [Sample]] = [:]
        for _ in 0..<rounds {
            bare.append(try alone(sink))
            try readThrough(file)
            samples["SQLite", default: []].append(try broadcast(file, [:], sink, nil))
            bare.append(try alone(sink))
            samples["PostgreSQL", default: []].append(try broadcast(moved, settings, sink, server))
        }
        bare.append(try alone(sink))
        rows.append(Measurement(name: "the client alone, CPU per push", unit: "µs", values: bare, limit: nil))
        // What a machine gives changes within a minute: each broadcast is compared with the runs just before and just after it.
        let around = zip(bare, bare.dropFirst()).map { ($0 + $1) / 2 }
        for (place, engine) in ["SQLite", "PostgreSQL"].enumerated() {
            let own = stride(from: place, to: around.count, by: 2).map { around[$0] }
            rows += Self.rows(engine, samples[engine] ?? [], own)
        }
        let punctuality = PunctualityBenchmark(sink: sink, message: Self.message)
        for (engine, data, settings) in [("SQLite", file, [:]), ("PostgreSQL", moved, settings)] {
            let node = try RunningNode(program: program, data: data, settings: settings, sink: sink, key: key)
            defer { node.server.stop() }
            rows += try punctuality.rows(engine, node)
        }
        rows += try ActivityBenchmark(
            program: program, filler: filler, sink: sink, key: key, rounds: rounds, folder: folder
        ).rows()
        return rows
    }

    private static func rows(_ engine: String, _ samples: [Sample], _ bare: [Double]) -> [Measurement] {
        let perPush = samples.map { $0.processor * 1_000_000 / Double(devices) }
        var rows = [
            Measurement(
                name: "\(engine), pushes per second", unit: "", values: samples.map { Double(devices) / $0.seconds }, limit: nil),
            Measurement(name: "\(engine), CPU per push", unit: "µs", values: perPush, limit: nil),
            Measurement(
                name: "\(engine), times the client's", unit: "", values: zip(perPush, bare).map { $0 / $1 }, limit: ratioLimit),
            Measurement(
                name: "\(engine), most resident memory", unit: "MB", values: samples.map(\.peakMegabytes), limit: residentLimit),
        ]
        let database = samples.compactMap(\.database)
        if !database.isEmpty {
            let values = database.map { $0 * 1_000_000 / Double(devices) }
            rows.append(Measurement(name: "\(engine), its own CPU per push", unit: "µs", values: values, limit: nil))
        }
        return rows
    }

    /// Microseconds of processor time per push of the client alone.
    private func alone(_ sink: Sink) throws -> Double {
        let run = try CommandRun.client([
            load, "--port", "\(sink.port)", "--certificate", sink.certificate, "--mode", "batch", "--window", "1000", "--loops",
            "1",
            "--count", "\(Self.devices)", "--body", "\(Self.bodySize)",
        ])
        return run.processor * 1_000_000 / Double(Self.devices)
    }

    private func broadcast(
        _ node: URL, _ settings: [String: String], _ sink: Sink, _ database: ThrowAwayDatabase?
    ) throws -> Sample {
        let running = try RunningNode(program: program, data: node, settings: settings, sink: sink, key: key)
        defer { running.server.stop() }
        let server = running.server
        let before = (
            sink: try sink.totals().requests, server: try server.processorSeconds(), database: try database?.processorSeconds()
        )
        let send = running.sendToEveryone(Self.message)
        let run = try CommandRun.client(send.command, core: 1, environment: send.environment)
        guard run.output.contains("Success \(Self.devices)") else {
            throw CommandRun.Fault("not every push counts: \(run.output)")
        }
        let sent = try sink.totals().requests - before.sink
        guard sent == Self.devices else { throw CommandRun.Fault("\(sent) pushes arrived") }
        return Sample(
            seconds: run.seconds, processor: try server.processorSeconds() - before.server,
            peakMegabytes: try server.peakMegabytes(),
            database: try database.map { try $0.processorSeconds() - (before.database ?? 0) })
    }

    /// Has the system keep the file's pages in memory, as those of a file in use are: what reading a disk costs is not what is measured,
    /// and some machines forget the pages of a file within seconds.
    private func readThrough(_ node: URL) throws {
        let file = try FileHandle(forReadingFrom: node.appending(path: "clarion.sqlite"))
        defer { try? file.close() }
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {}
    }

    /// As long as makes the body as long as that of the client alone.
    private static let message = String(repeating: "x", count: bodySize - #"{"aps":{"alert":{"body":""}}}"#.utf8.count)

    private var key: URL { folder.appending(path: "key.p8") }

    private func makeKey() throws {
        _ = try CommandRun.client([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key.path,
        ])
    }

    private func makeNode() throws -> URL {
        let node = folder.appending(path: "file")
        try FileManager.default.createDirectory(at: node, withIntermediateDirectories: true)
        try CommandRun.begin(program, data: node.path)
        _ = try CommandRun.client([program, "hub", "create", "bench", "--data-directory", node.path])
        return node
    }
}
