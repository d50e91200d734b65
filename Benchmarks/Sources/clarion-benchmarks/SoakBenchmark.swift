import Foundation

/// A node under mixed load with faults for hours: whether its memory, its descriptors or its write-ahead log grow, and how its latency
/// goes. Each cycle has ten seconds of load and a pause; every third one loses APNs meanwhile, every fourth one is left by clients in the
/// middle of a request.
struct SoakBenchmark {
    /// The most that resident memory may grow in an hour, as a part of its mean. What a run of one hour scatters is about half of that.
    private static let growthLimit = 0.05
    /// Descriptors that may be added in an hour.
    private static let descriptorLimit = 2.0
    private static let logLimit = 64.0
    private static let connections = 8
    private static let requestsOfCycle = 6_000
    private static let pause: UInt32 = 5

    let program: String
    /// `fetch-load`.
    let load: String
    let sink: String
    let hours: Double
    let folder: URL
    /// Where the samples go, a line each, while it runs.
    let curve: URL

    /// The node at the end of a cycle.
    struct Sample {
        var minutes: Double
        var resident: Double
        var descriptors: Double
        var log: Double
        var database: Double
        var median: Double
        var late: Double
        /// Answers of 5xx.
        var failures: Double

        var line: String {
            String(
                format: "%.2f\t%.1f\t%.0f\t%.2f\t%.1f\t%.2f\t%.2f\t%.0f\n", minutes, resident, descriptors, log, database, median,
                late, failures)
        }

        static let header = "minutes\tresident MB\tdescriptors\twrite-ahead log MB\tdatabase MB\tmedian ms\tp99 ms\t5xx\n"
    }

    private struct Report: Decodable {
        var requests: Int
        var median: Double
        var late: Double
        var statuses: [String: Int]
    }

    func run() throws -> [Measurement] {
        let sink = try Sink(program: sink, folder: folder)
        defer { sink.stop() }
        let stage = try SoakStage(program: program, load: load, sink: sink, folder: folder)
        defer { stage.stop() }
        try Data(Sample.header.utf8).write(to: curve)
        let file = try FileHandle(forWritingTo: curve)
        defer { try? file.close() }
        try file.seekToEnd()
        let start = Date()
        var samples: [Sample] = []
        while Date().timeIntervalSince(start) < hours * 3_600 {
            let sample = try cycle(samples.count, since: start, stage, sink)
            try file.write(contentsOf: Data(sample.line.utf8))
            samples.append(sample)
        }
        return try rows(samples, pushes: sink.totals().requests, requests: samples.count * Self.requestsOfCycle)
    }

    private func cycle(_ number: Int, since start: Date, _ stage: SoakStage, _ sink: Sink) throws -> Sample {
        if number % 3 == 2 { try sink.goAway() }
        if number % 4 == 3 { LoopbackSocket.abandon(200, port: stage.port) }
        let run = try CommandRun.client(
            [load, "\(stage.tlsPort)", "\(Self.connections)", "\(Self.requestsOfCycle)", "60", stage.requests], core: 1)
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        if number % 3 == 2 { try sink.comeBack() }
        try stage.sendPicture()
        sleep(Self.pause)
        guard stage.node.isRunning else { throw CommandRun.Fault("the node ended in cycle \(number)") }
        return Sample(
            minutes: Date().timeIntervalSince(start) / 60, resident: try stage.node.residentMegabytes(),
            descriptors: Double(try stage.node.descriptors()), log: stage.megabytes(of: "clarion.sqlite-wal"),
            database: stage.megabytes(of: "clarion.sqlite"), median: report.median, late: report.late,
            failures: Double(report.statuses.filter { $0.key.hasPrefix("5") }.values.reduce(0, +)))
    }

    private func rows(_ samples: [Sample], pushes: Int, requests: Int) -> [Measurement] {
        // The first third fills caches and pools.
        let settled = Array(samples.dropFirst(samples.count / 3))
        let mean = settled.map(\.resident).reduce(0, +) / Double(max(1, settled.count))
        func values(_ value: (Sample) -> Double) -> [Double] { samples.map(value) }
        return [
            Measurement(name: "requests and pushes", unit: "", values: [Double(requests), Double(pushes)]),
            Measurement(name: "resident memory", unit: "MB", values: values(\.resident)),
            Measurement(
                name: "its growth in an hour, after the first third", unit: "MB", values: [slope(settled, \.resident)],
                limit: mean * Self.growthLimit),
            Measurement(name: "descriptors", unit: "", values: values(\.descriptors)),
            Measurement(
                name: "their growth in an hour", unit: "", values: [slope(settled, \.descriptors)], limit: Self.descriptorLimit),
            Measurement(
                name: "write-ahead log", unit: "MB", values: values(\.log), limit: Self.logLimit, isLimitForAll: true),
            Measurement(name: "database", unit: "MB", values: values(\.database)),
            Measurement(name: "latency, median", unit: "ms", values: values(\.median)),
            Measurement(name: "latency, 99 of 100 below", unit: "ms", values: values(\.late)),
            Measurement(name: "answers of 5xx in a cycle", unit: "", values: values(\.failures)),
        ]
    }

    /// The least-squares slope, in units an hour.
    private func slope(_ samples: [Sample], _ value: (Sample) -> Double) -> Double {
        let count = Double(samples.count)
        guard count > 2 else { return .infinity }
        let times = samples.map { $0.minutes / 60 }
        let (middle, mean) = (times.reduce(0, +) / count, samples.map(value).reduce(0, +) / count)
        let above = zip(times, samples).map { ($0 - middle) * (value($1) - mean) }.reduce(0, +)
        return above / times.map { ($0 - middle) * ($0 - middle) }.reduce(0, +)
    }
}

/// The node that is soaked, with people, phones and a picture, and the requests of a cycle in a file.
struct SoakStage {
    private static let people = 40
    private static let phonesOfEach = 5

    let node: ServerProcess
    let port: UInt16
    let tlsPort: UInt16
    /// The file with the requests.
    let requests: String

    private let program: String
    private let data: URL
    private let picture: URL
    private let key: String

    init(program: String, load: String, sink: Sink, folder: URL) throws {
        self.program = program
        data = folder.appending(path: "data")
        picture = folder.appending(path: "picture.png")
        requests = folder.appending(path: "cycle.requests").path
        (port, tlsPort) = (try LoopbackSocket.freePort(), try LoopbackSocket.freePort())
        try FetchStage.picture(40_000).write(to: picture)
        try CommandRun.begin(program, data: data.path)
        for number in 0..<Self.people {
            let words = [program, "user", "add", Self.name(number), "--role", "user", "--data-directory", data.path]
            _ = try CommandRun.client(words, input: FetchStage.password + "\n")
        }
        let words = [program, "key", "create", "soak", "--scope", "send", "status", "--data-directory", data.path]
        key = try CommandRun.client(words).output.trimmingCharacters(in: .whitespacesAndNewlines)
        node = try Self.node(program, port, tlsPort, sink, data, folder)
        do {
            for _ in 0..<5_000 where !LoopbackSocket.answers(port: port, path: "/readyz") { usleep(2_000) }
            try prepare(load, folder)
        } catch {
            node.stop()
            throw error
        }
    }

    func stop() { node.stop() }

    func megabytes(of file: String) -> Double {
        let attributes = try? FileManager.default.attributesOfItem(atPath: data.appending(path: file).path)
        return (attributes?[.size] as? NSNumber).map { $0.doubleValue / 1_000_000 } ?? 0
    }

    /// Uploads a picture and sends it to everyone.
    func sendPicture() throws {
        _ = try CommandRun.client(
            [
                program, "send", "--server", "http://127.0.0.1:\(port)", "--message", "look", "--audience", "all", "--picture",
                picture.path,
            ], core: 1, environment: ["CLARION_KEY": key])
    }

    private static func node(
        _ program: String, _ port: UInt16, _ tlsPort: UInt16, _ sink: Sink, _ data: URL, _ folder: URL
    ) throws -> ServerProcess {
        let path = { (name: String) in folder.appending(path: name).path }
        _ = try CommandRun.client([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-keyout", path("tls-key.pem"), "-out", path("tls.pem"),
        ])
        _ = try CommandRun.client([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path("apns.p8"),
        ])
        let arguments = [
            program, "serve", "--data-directory", data.path, "--listen-port", "\(port)", "--tls-listen-port", "\(tlsPort)",
            "--tls-certificate-path", path("tls.pem"), "--tls-key-path", path("tls-key.pem"), "--log-level", "critical",
            "--apns-host", "127.0.0.1", "--apns-port", "\(sink.port)", "--apns-trust-roots-path", sink.certificate,
            "--apns-environment", "sandbox", "--apns-key-path", path("apns.p8"), "--apns-key-id", "BENCHKEY00",
            "--apns-team-id", "BENCHTEAM0", "--apns-topic", "com.example.app",
        ]
        return try ServerProcess(program: "/usr/bin/env", arguments: CommandRun.pinned(to: 0, arguments))
    }

    /// Signs the phones in, sends the first picture, and writes the requests of a cycle.
    private func prepare(_ load: String, _ folder: URL) throws {
        let phones = (0..<Self.people * Self.phonesOfEach).map { number in
            FetchStage.request(
                "PUT", "/api/v1/installations/phone-\(number)", FetchStage.basic(Self.name(number / Self.phonesOfEach)),
                json: Self.installation(number))
        }
        let file = folder.appending(path: "install.requests").path
        try phones.joined(separator: "\0").write(toFile: file, atomically: true, encoding: .utf8)
        let answers = try CommandRun.client([load, "\(tlsPort)", "8", "\(phones.count)", "120", file, "bodies"], core: 1)
        let credentials = answers.output.matches(of: #/"credential":"([^"]+)"/#).map { String($0.1) }
        guard credentials.count == phones.count else { throw CommandRun.Fault("only \(credentials.count) phones signed in") }
        try sendPicture()
        let mixed = (0..<1_000).map { request($0, credentials[$0 % credentials.count]) }
        try mixed.joined(separator: "\0").write(toFile: requests, atomically: true, encoding: .utf8)
    }

    /// Of a hundred: fetches, inboxes, sends, lists, installations that come again, and what no caller should ask.
    private func request(_ number: Int, _ credential: String) -> String {
        let (phone, service) = ("Bearer \(credential)", "Bearer \(key)")
        let message = #"{"audience":"username:\#(Self.name(number % Self.people))","message":"number \#(number)"}"#
        switch number % 100 {
        case 0..<60: return FetchStage.request("GET", "/api/v1/notifications/1", phone)
        case 60..<75: return FetchStage.request("GET", "/api/v1/notifications?limit=20", phone)
        case 75..<80: return FetchStage.request("POST", "/api/v1/notifications", service, json: message)
        case 80..<84: return FetchStage.request("GET", "/api/v1/sends?limit=20", service)
        case 84..<88: return FetchStage.request("POST", "/api/v1/receipts", phone, json: Self.receipt)
        case 88..<92: return FetchStage.request("GET", "/api/v1/me", FetchStage.basic("unknown\(number)"))
        case 92..<95: return FetchStage.request("POST", "/api/v1/notifications", service, json: #"{"message": 3, "#)
        case 95..<98: return FetchStage.request("GET", "/api/v1/nothing-\(number)", phone)
        default: return FetchStage.request("POST", "/api/v1/audiences/count", service, json: #"{"audience":"all && !x"}"#)
        }
    }

    private static func installation(_ number: Int) -> String {
        #"{"platform":"apns","handle":"\#(String(format: "%064X", number + 1))","tags":["all"]}"#
    }

    private static let receipt = #"{"receipts":[{"id":"1","kind":"opened","at":1767225600000}]}"#

    private static func name(_ number: Int) -> String { "person\(number)" }
}
