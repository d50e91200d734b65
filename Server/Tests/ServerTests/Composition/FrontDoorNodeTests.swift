import ClarionTesting
import Foundation
import Hummingbird
import LocalCertificates
import Logging
import RichPushModel
import ServerObservability
import ServiceErrors
import Testing

@testable import ServerComposition
@testable import ServerSettings

@Suite("The listeners of a node")
struct FrontDoorNodeTests {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "clarion-door-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func settings(_ folder: String) throws -> Settings {
        let text = "listen-port: 0\ntls-listen-port: 0\nprior-knowledge-port: 0\ntls-names: [push.example.test]\n"
        var settings = try #require(SettingsFixture(file: text).read().settings)
        settings.dataDirectory = folder
        return settings
    }

    /// Runs a node until the body returns; the body gets the port of each listener.
    private func running(
        _ settings: Settings, _ body: (ServerNode, [NodeListener: Int]) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: (NodeListener, Int).self)
        var options = NodeOptions()
        options.onListening = { continuation.yield(($0, $1)) }
        let node = try await ServerNode.make(settings, options: options, logger: Self.quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await node.run() }
            var found: [NodeListener: Int] = [:]
            for await (listener, port) in ports {
                found[listener] = port
                if found.count == NodeListener.allCases.count { break }
            }
            try await body(node, found)
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
        }
    }

    /// What the kernel holds of a listener of this process: `tcpi_sacked` of a listening socket is its backlog (`tcp_get_info`).
    private static func backlog(ofListenerAt port: Int) -> Int? {
        // Tests beside this one have many open.
        for descriptor in Int32(3)..<65_536 {
            var (isListening, length) = (Int32(0), socklen_t(4))
            guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening == 1 else {
                continue
            }
            var address = sockaddr_in()
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isNamed = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
            }
            guard isNamed, Int(UInt16(bigEndian: address.sin_port)) == port else { continue }
            var facts = [UInt32](repeating: 0, count: 26)
            length = 104
            guard getsockopt(descriptor, Int32(IPPROTO_TCP), 11, &facts, &length) == 0 else { return nil }
            // Eight bytes of flags, then rto, ato, snd_mss, rcv_mss, unacked, sacked.
            return Int(facts[7])
        }
        return nil
    }

    /// Status and version of an answer, or nothing when there is none.
    private func curl(_ folder: String, _ arguments: [String]) async throws -> String {
        let output = folder + "/curl-\(UUID().uuidString)"
        let process = try ChildProcess(
            ChildProcess.Command(
                "curl",
                ["-s", "--max-time", "120", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code} %{http_version}"]
                    + arguments,
                output: output))
        _ = await process.exitStatus()
        return try String(contentsOfFile: output, encoding: .utf8)
    }

    @Test("one node answers in HTTP/1.1, in both versions over TLS with its own authority, and in HTTP/2 by prior knowledge")
    func all() async throws {
        try await withFolder { folder in
            var settings = try settings(folder)
            settings.listening.backlog = 777
            try await running(settings) { node, ports in
                for port in ports.values { #expect(Self.backlog(ofListenerAt: port) == 777) }
                let authority = try #require(node.developmentAuthorityPath)
                let (plain, tls, known) = (ports[.plain] ?? 0, ports[.tls] ?? 0, ports[.priorKnowledge] ?? 0)
                #expect(try await curl(folder, ["http://127.0.0.1:\(plain)/livez"]) == "200 1.1")
                for host in ["127.0.0.1", "localhost"] {
                    let url = "https://\(host):\(tls)/livez"
                    #expect(try await curl(folder, ["--cacert", authority, "--http2", url]) == "200 2")
                    #expect(try await curl(folder, ["--cacert", authority, "--http1.1", url]) == "200 1.1")
                }
                let named = ["--resolve", "push.example.test:\(tls):127.0.0.1", "--cacert", authority]
                #expect(try await curl(folder, named + ["https://push.example.test:\(tls)/livez"]) == "200 2")
                #expect(try await curl(folder, ["https://127.0.0.1:\(tls)/livez"]).hasPrefix("000"))
                #expect(try await curl(folder, ["--http2-prior-knowledge", "http://127.0.0.1:\(known)/livez"]) == "200 2")
                // A name that is not this machine's, which a foreign DNS entry points at it.
                let foreign = ["--resolve", "evil.test:\(plain):127.0.0.1", "http://evil.test:\(plain)/livez"]
                #expect(try await curl(folder, foreign) == "403 1.1")
            }
        }
    }

    @Test("certificate and key of the settings are used, and read again when they change")
    func files() async throws {
        try await withFolder { folder in
            let now = SystemClock().now
            let (first, second) = (try LocalCertificateAuthority.create(), try LocalCertificateAuthority.create())
            let files = Settings.TLS.Files(certificatePath: folder + "/chain.pem", keyPath: folder + "/key.pem")
            func write(_ authority: LocalCertificateAuthority) throws {
                let issued = try authority.issueServerCertificate(names: ["127.0.0.1"], subject: "Test", now: now)
                try issued.certificatePEM.write(toFile: files.certificatePath, atomically: true, encoding: .utf8)
                try issued.privateKeyPEM.write(toFile: files.keyPath, atomically: true, encoding: .utf8)
            }
            try first.certificatePEM.write(toFile: folder + "/first.pem", atomically: true, encoding: .utf8)
            try second.certificatePEM.write(toFile: folder + "/second.pem", atomically: true, encoding: .utf8)
            try write(first)
            var settings = try settings(folder)
            settings.listening.tls?.files = files
            try await running(settings) { node, ports in
                #expect(node.developmentAuthorityPath == nil)
                let url = "https://127.0.0.1:\(ports[.tls] ?? 0)/livez"
                #expect(try await curl(folder, ["--cacert", folder + "/first.pem", url]) == "200 2")
                try write(second)
                node.reloadCertificate()
                #expect(try await curl(folder, ["--cacert", folder + "/second.pem", url]) == "200 2")
                #expect(try await curl(folder, ["--cacert", folder + "/first.pem", url]).hasPrefix("000"))
                try "no key".write(toFile: files.keyPath, atomically: true, encoding: .utf8)
                node.reloadCertificate()
                #expect(try await curl(folder, ["--cacert", folder + "/second.pem", url]) == "200 2")
            }
        }
    }

    @Test("changed files are noticed by themselves, and a certificate of the development authority is renewed in time")
    func renewal() async throws {
        try await withFolder { folder in
            var settings = try settings(folder)
            let files = Settings.TLS.Files(certificatePath: folder + "/chain.pem", keyPath: folder + "/key.pem")
            let issued = try LocalCertificateAuthority.create().issueServerCertificate(
                names: ["127.0.0.1"], subject: "Test", now: SystemClock().now)
            try issued.certificatePEM.write(toFile: files.certificatePath, atomically: true, encoding: .utf8)
            try issued.privateKeyPEM.write(toFile: files.keyPath, atomically: true, encoding: .utf8)
            for usesFiles in [true, false] {
                settings.listening.tls?.files = usesFiles ? files : nil
                let (clock, notes) = (ManualClock(), LogNotes())
                func logged() -> [String] { notes.lines.filter { $0.level >= .info }.map(\.message) }
                let door = try ServerCertificate(
                    settings, try #require(settings.listening.tls), clock: clock,
                    logger: notes.logger)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await door.run() }
                    func turn(_ duration: Duration) async {
                        #expect(await eventually { clock.sleeperCount > 0 })
                        clock.advance(by: duration)
                        #expect(await eventually { clock.sleeperCount > 0 })
                    }
                    await turn(ServerCertificate.interval)
                    #expect(logged().isEmpty)
                    if usesFiles {
                        try? (issued.certificatePEM + "\n").write(
                            toFile: files.certificatePath, atomically: true, encoding: .utf8)
                    }
                    await turn(usesFiles ? ServerCertificate.interval : ServerCertificate.renewal)
                    #expect(logged() == ["The certificate of the HTTPS interface was replaced"])
                    await turn(ServerCertificate.interval)
                    #expect(logged().count == 1)
                    group.cancelAll()
                }
            }
        }
    }
}

@Suite("The backlog of a listener")
struct ListenBacklogTests {
    @Test("is what the settings say, else what the system allows, at most 4,096")
    func length() {
        #expect(ListenBacklog.length(nil, system: 65_535) == 4_096)
        #expect(ListenBacklog.length(nil, system: 1_024) == 1_024)
        #expect(ListenBacklog.length(nil, system: 0) == 128)
        #expect(ListenBacklog.length(nil, system: nil) == 4_096)
        #expect(ListenBacklog.length(16_000, system: 1_024) == 16_000)
    }

    @Test("is a setting with bounds")
    func setting() throws {
        #expect(try #require(SettingsFixture(file: "listen-backlog: 777").read().settings).listening.backlog == 777)
        #expect(try #require(SettingsFixture(file: "").read().settings).listening.backlog == nil)
        #expect(SettingsFixture(file: "listen-backlog: 5").problems.count == 1)
    }
}

@Suite("The listener of /metrics")
struct MetricsListenerTests {
    /// The head of an answer to a client that calls the listener by this name.
    private func head(host: String, listening: String) async throws -> String {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: NodeService.metricsRouter(.init(host: listening, port: 0), PrometheusMetrics()),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: quiet)
        let output = NSTemporaryDirectory() + "clarion-metrics-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: output) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.runService(gracefulShutdownSignals: []) }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let process = try ChildProcess(
                ChildProcess.Command(
                    "curl",
                    [
                        "-s", "-i", "--max-time", "120", "--noproxy", "*", "--resolve", "\(host):\(port):127.0.0.1",
                        "http://\(host):\(port)/metrics",
                    ], output: output))
            _ = await process.exitStatus()
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
            return try String(contentsOfFile: output, encoding: .utf8).lowercased()
        }
    }

    @Test(
        "answers to names of this machine where it is for this machine, to all where it is open, and browsers guess no type",
        arguments: [
            ("127.0.0.1", "localhost", "200"), ("127.0.0.1", "127.0.0.1", "200"), ("127.0.0.1", "evil.test", "403"),
            ("0.0.0.0", "node-1.clarion", "200"),
        ])
    func host(_ listening: String, _ host: String, _ status: String) async throws {
        let head = try await head(host: host, listening: listening)
        #expect(head.hasPrefix("http/1.1 \(status)"))
        #expect(head.contains("x-content-type-options: nosniff"))
    }
}
