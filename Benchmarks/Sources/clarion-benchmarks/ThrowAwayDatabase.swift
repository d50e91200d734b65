import Foundation

/// A PostgreSQL server of its own on the second core, with the settings that Debian's package has, gone with the measurement.
final class ThrowAwayDatabase {
    let url: String
    private let folder: URL
    private let programs: String
    /// PostgreSQL refuses to run as root.
    private let asOther: [String]
    private let process = Process()

    init(folder: URL) throws {
        self.folder = folder
        programs = try Self.findPrograms()
        asOther = getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : []
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if !asOther.isEmpty {
            // The folder above is for its owner alone.
            for path in [folder.deletingLastPathComponent().path, folder.path] { _ = chmod(path, 0o755) }
            _ = try CommandRun.client(["chown", "postgres:postgres", folder.path])
        }
        let port = try LoopbackSocket.freePort()
        url = "postgres://bench@127.0.0.1:\(port)/postgres?sslmode=disable"
        let data = folder.appending(path: "data").path
        _ = try CommandRun.client(
            asOther + ["\(programs)/initdb", "-D", data, "-U", "bench", "-A", "trust", "--encoding=UTF8", "--no-locale"])
        // Itself and not by pg_ctl, which would end and leave it what Foundation watches its end by.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = CommandRun.pinned(
            to: 1,
            asOther + ["\(programs)/postgres", "-D", data, "-p", "\(port)", "-k", folder.path, "-c", "listen_addresses=127.0.0.1"])
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<600 {
            if (try? CommandRun.client(["\(programs)/pg_isready", "-q", "-h", "127.0.0.1", "-p", "\(port)"])) != nil { return }
            usleep(100_000)
        }
        throw CommandRun.Fault("PostgreSQL does not answer")
    }

    func stop() {
        // SIGINT is its fast shutdown.
        process.interrupt()
        process.waitUntilExit()
    }

    /// User and system time so far of all its processes, those that have ended included.
    func processorSeconds() throws -> Double {
        let pid = try String(contentsOf: folder.appending(path: "data/postmaster.pid"), encoding: .utf8).prefix { $0 != "\n" }
        let children = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        let running = [String(pid)] + children.split(separator: " ").map(String.init)
        return try running.map { try ProcessTimes.seconds(of: $0) }.reduce(0, +) + ProcessTimes.seconds(ofChildrenOf: String(pid))
    }

    private static func findPrograms() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        guard let newest = versions.compactMap({ Int($0) }).max() else {
            throw CommandRun.Fault("PostgreSQL is missing: run scripts/install-dependencies bench")
        }
        return "\(root)/\(newest)/bin"
    }
}
