import ClarionTesting
import Foundation
import ServerSettings
import Testing

/// `clarion serve` as a process of its own, so that it can be killed.
final class ServerProcess: Sendable {
    /// How a test names the server's settings.
    struct Options {
        var dataDirectory: String
        var apnsPort: Int
        var signingKeyPath: String
        var trustRootsPath: String
        var logLevel = "warning"
        /// Longer than the product's own: a busy machine drains slowly, and a stop that was cut short is no clean one.
        var shutdownDeadline = "60s"
        /// What several servers share: database, bucket, master key.
        var shared: [String: String] = [:]
        /// The size of a disk of the server's own for its data, in MiB; see `SmallDisk`.
        var diskSize: Int?

        /// All settings but the data directory.
        var environment: [String: String] {
            let own = [
                "CLARION_APNS_ENVIRONMENT": "sandbox",
                "CLARION_APNS_HOST": "127.0.0.1", "CLARION_APNS_PORT": String(apnsPort),
                "CLARION_APNS_TRUST_ROOTS_PATH": trustRootsPath, "CLARION_APNS_KEY_PATH": signingKeyPath,
                "CLARION_APNS_KEY_ID": "LOCALKEY00", "CLARION_APNS_TEAM_ID": "LOCALTEAM0",
                "CLARION_APNS_TOPIC": "org.example.app",
                "CLARION_LOG_LEVEL": logLevel, "CLARION_SHUTDOWN_DEADLINE": shutdownDeadline,
            ]
            return own.merging(shared) { _, given in given }
        }

        /// The same for what works in this process.
        func settings() throws -> Settings {
            let own = ["CLARION_DATA_DIRECTORY": dataDirectory]
            return try SettingsLoader(
                arguments: [], environment: environment.merging(own) { _, given in given }, path: nil, system: .server
            ).load()
        }
    }

    private let process: ChildProcess
    private let output: String
    /// Where it answers, for example `http://127.0.0.1:40001`, in the order in which it began to.
    let addresses: [String]
    var address: String { addresses[0] }

    /// Starts the server and returns once it listens; throws with what it printed when it does not within a minute.
    convenience init(_ options: Options) async throws {
        try await self.init(
            dataDirectory: options.dataDirectory, environment: options.environment, diskSize: options.diskSize)
    }

    /// The same with settings of one's own, until it listens at so many addresses. `prefix` is the command of a program that starts it
    /// in its own process, such as `strace -D`.
    init(
        dataDirectory: String, environment: [String: String], listeners: Int = 1, diskSize: Int? = nil, prefix: [String] = []
    ) async throws {
        try FileManager.default.createDirectory(atPath: dataDirectory, withIntermediateDirectories: true)
        let output = dataDirectory + "/serve-\(UUID().uuidString).log"
        var command =
            if let diskSize {
                SmallDisk.command([Self.program, "serve"], over: dataDirectory, mebibytes: diskSize, output: output)
            } else {
                ChildProcess.Command("/usr/bin/env", prefix + [Self.program, "serve"], output: output)
            }
        let own = ["CLARION_DATA_DIRECTORY": dataDirectory, "CLARION_LISTEN_PORT": "0"]
        command.environment = environment.merging(own) { given, _ in given }
        process = try ChildProcess(command)
        self.output = output
        do {
            addresses = try await Self.addresses(of: process, listeners, printing: command.output)
        } catch {
            process.signal(SIGKILL)
            throw error
        }
    }

    var isRunning: Bool { process.isRunning }

    /// What it has printed and logged so far.
    var printed: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

    /// The lines of its log, as text, with level error or above, and how it ended if it crashed.
    var errors: [Substring] {
        printed.split(separator: "\n").filter { line in
            let level = line.split(separator: " ", maxSplits: 2).dropFirst().first
            return level == "error" || level == "critical" || line.contains("Fatal error")
        }
    }

    /// Its resident memory in bytes (Linux).
    var residentBytes: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// The file system as the server sees it, when it has a disk of its own.
    var view: String { "/proc/\(process.processID)/root" }

    /// SIGTERM, without waiting for the end.
    func askToStop() { process.signal(SIGTERM) }

    /// SIGKILL: the server learns nothing of it.
    func kill() { process.signal(SIGKILL) }

    /// Returns when the process is gone.
    func waitUntilGone() async { _ = await process.exitStatus() }

    /// SIGTERM, and returns the exit status.
    func terminate() async -> Int32 {
        askToStop()
        return await process.exitStatus()
    }

    deinit { process.signal(SIGKILL) }

    /// The lines that `serve` prints once requests are answered.
    private static func addresses(
        of process: ChildProcess, _ count: Int, printing output: String
    ) async throws -> [String] {
        for _ in 1...6_000 {
            let isRunning = process.isRunning
            let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let found = lines.filter { $0.hasPrefix("Listening on ") }.map { String($0.dropFirst("Listening on ".count)) }
            if found.count >= count { return found }
            try #require(isRunning, "the server ended before it listened: \(text)")
            try await Task.sleep(for: .milliseconds(10))
        }
        struct Late: Error {}
        throw Late()
    }

    /// The program that was built with these tests.
    static let program = Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "clarion").resolved().path

    /// The program of the lab, which lies beside it.
    static let labProgram = program + "-lab"
}

extension URL {
    /// The test runner lies beside the program, or in a bundle beside it.
    fileprivate func resolved() -> URL {
        if FileManager.default.isExecutableFile(atPath: path) { return self }
        let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        return folder.appending(path: "clarion")
    }
}
