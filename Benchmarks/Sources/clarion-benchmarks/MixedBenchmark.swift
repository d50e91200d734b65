import Foundation

/// One send of the app backend to a million devices of three platforms through the built program on SQLite: how long it takes, and whether
/// one platform waits for another. The node has both cores; the sinks share the second with the sender.
struct MixedBenchmark {
    /// Seconds from the request until the last push has arrived. The quota of FCM allows 30.
    static let limit = 40.0
    static let residentLimit = 200.0
    /// Seconds from the request to the first push of each platform, and those in which none of a platform arrives that has more to come.
    static let startLimit = 2.0
    static let pauseLimit = 1.0
    /// When a send is given up.
    private static let patience = Duration.seconds(300)

    let program: String
    let sink: String
    /// `hub-pages`, which fills hubs.
    let filler: String
    let rounds: Int
    /// A million, unless it is only tried out.
    let devices: Int
    let folder: URL

    /// When the pushes of a platform arrived in one send, in seconds from the request.
    private struct Arrivals {
        var expected: Int
        var count = 0
        var first: Double?
        var last = 0.0
        /// The longest time without any between the first and the last.
        var pause = 0.0

        mutating func note(_ total: Int, at moment: Double) {
            guard total > count else { return }
            if first == nil { first = moment } else { pause = max(pause, moment - last) }
            (count, last) = (total, moment)
        }
    }

    private struct Sample {
        var arrivals: [Arrivals]
        var processor: Double
        var peakMegabytes: Double
        var seconds: Double { arrivals.map(\.last).max() ?? .infinity }
    }

    /// A platform, its sink, and how many of ten devices have it.
    private typealias Service = (name: String, sink: Sink, share: Int)

    func run() throws -> [Measurement] {
        // FCM and the push services of browsers take a hundred requests at once on a connection. The answers of FCM are access tokens too.
        let token = #"{"access_token":"\#(String(repeating: "a1", count: 92))","expires_in":3600}"#
        let services: [Service] = [
            ("APNs", try makeSink("apns"), 6),
            ("FCM", try makeSink("fcm", ["--streams", "100", "--answer-body", token]), 3),
            ("browsers", try makeSink("browsers", ["--streams", "100"]), 1),
        ]
        defer { for service in services { service.sink.stop() } }
        let data = folder.appending(path: "data")
        try CommandRun.begin(program, data: data.path)
        let key = try clarion("key", "create", "shop", "--scope", "send", "status", "--data-directory", data.path)
        _ = try clarion("hub", "create", "bench", "--data-directory", data.path)
        _ = try CommandRun.client([
            filler, "mixed", data.appending(path: "clarion.sqlite").path, "bench", "\(devices)",
            "https://127.0.0.1:\(services[2].sink.port)",
        ])
        let node = try RunningNode(
            program: program, data: data, settings: try settings(fcm: services[1].sink, browsers: services[2].sink),
            sink: services[0].sink, key: try makeKey("EC", "ec_paramgen_curve:P-256"), isPinned: false)
        defer { node.server.stop() }
        // At first the pace of FCM rises for a minute, as Google asks for. The node asks for its access token then.
        let first = try send(node, key, services, fcmTokens: 1)
        let samples = try (0..<rounds).map { _ in try send(node, key, services) }
        return rows(services, samples) + [
            Measurement(name: "the first send of a node, until all are out", unit: "s", values: [first.seconds])
        ]
    }

    private func rows(_ services: [Service], _ samples: [Sample]) -> [Measurement] {
        let perPush = samples.map { $0.processor * 1_000_000 / Double(devices) }
        return [
            Measurement(name: "until all are out", unit: "s", values: samples.map(\.seconds), limit: Self.limit),
            Measurement(name: "CPU per push", unit: "µs", values: perPush),
            Measurement(
                name: "most resident memory", unit: "MB", values: samples.map(\.peakMegabytes), limit: Self.residentLimit,
                isLimitForAll: true),
        ]
            + services.enumerated().flatMap { place, service in
                let arrivals = samples.map { $0.arrivals[place] }
                return [
                    Measurement(name: "\(service.name), pushes", unit: "", values: arrivals.map { Double($0.count) }),
                    Measurement(
                        name: "\(service.name), first push after", unit: "s", values: arrivals.map { $0.first ?? .infinity },
                        limit: Self.startLimit),
                    Measurement(name: "\(service.name), last push after", unit: "s", values: arrivals.map(\.last)),
                    Measurement(
                        name: "\(service.name), longest pause", unit: "s", values: arrivals.map(\.pause), limit: Self.pauseLimit),
                ]
            }
    }

    /// One send, until the node has counted every push. Ends the benchmark when one is lost, or arrives twice.
    private func send(_ node: RunningNode, _ key: String, _ services: [Service], fcmTokens: Int = 0) throws -> Sample {
        let before = try services.map { try $0.sink.totals().requests }
        let processor = try node.server.processorSeconds()
        var arrivals = services.map { Arrivals(expected: devices / 10 * $0.share + ($0.name == "FCM" ? fcmTokens : 0)) }
        let server = ["--server", "http://127.0.0.1:\(node.port)"]
        let start = ContinuousClock.now
        let request = try RunningCommand(
            CommandRun.pinned(to: 1, [program, "send", "--message", "Hello", "--audience", "all"] + server),
            environment: ["CLARION_KEY": key])
        while arrivals.contains(where: { $0.count < $0.expected }), .now - start < Self.patience {
            for (place, service) in services.enumerated() where arrivals[place].count < arrivals[place].expected {
                let total = try service.sink.totals().requests - before[place]
                arrivals[place].note(total, at: start.duration(to: .now) / .seconds(1))
            }
            usleep(10_000)
        }
        guard let id = try request.output().firstMatch(of: #/id ([0-9]+)/#)?.1 else {
            throw CommandRun.Fault("no id was printed")
        }
        let status = try CommandRun.client(
            [program, "status", String(id), "--wait"] + server, core: 1, environment: ["CLARION_KEY": key]
        ).output
        guard status.contains(try Regex(#"accepted\s+\#(devices)\b"#)) else {
            throw CommandRun.Fault("not every push counts: \(status)")
        }
        for (place, service) in services.enumerated() {
            let sent = try service.sink.totals().requests - before[place]
            guard sent == arrivals[place].expected else { throw CommandRun.Fault("\(service.name): \(sent) requests arrived") }
        }
        return Sample(
            arrivals: arrivals, processor: try node.server.processorSeconds() - processor,
            peakMegabytes: try node.server.peakMegabytes())
    }

    /// How the node reaches the sinks beside that of APNs.
    private func settings(fcm: Sink, browsers: Sink) throws -> [String: String] {
        let account = [
            "type": "service_account", "project_id": "bench-project", "client_email": "bench@example.iam.gserviceaccount.com",
            "private_key": try String(contentsOf: makeKey("RSA", "rsa_keygen_bits:2048"), encoding: .utf8),
            "token_uri": "https://127.0.0.1:\(fcm.port)/token",
        ]
        let file = folder.appending(path: "fcm.json")
        try JSONEncoder().encode(account).write(to: file)
        return [
            "CLARION_HUB_NAME": "bench", "CLARION_FCM_KEY_PATH": file.path, "CLARION_FCM_HOST": "127.0.0.1",
            "CLARION_FCM_PORT": "\(fcm.port)", "CLARION_FCM_TRUST_ROOTS_PATH": fcm.certificate,
            "CLARION_WEB_PUSH_SUBJECT": "mailto:bench@example.com", "CLARION_WEB_PUSH_KEYS": try clarion("web-push-key"),
            "CLARION_WEB_PUSH_HOSTS": "127.0.0.1", "CLARION_WEB_PUSH_NETWORKS": "127.0.0.0/8",
            "CLARION_WEB_PUSH_TRUST_ROOTS_PATH": browsers.certificate,
        ]
    }

    /// Each sink has a certificate of its own, and so a folder.
    private func makeSink(_ name: String, _ options: [String] = []) throws -> Sink {
        let own = folder.appending(path: name)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return try Sink(program: sink, folder: own, options)
    }

    private func makeKey(_ algorithm: String, _ option: String) throws -> URL {
        let file = folder.appending(path: "\(algorithm).pem")
        _ = try CommandRun.client([
            "openssl", "genpkey", "-quiet", "-algorithm", algorithm, "-pkeyopt", option, "-out", file.path,
        ])
        return file
    }

    /// What a command of the program prints.
    private func clarion(_ words: String...) throws -> String {
        try CommandRun.client([program] + words).output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
