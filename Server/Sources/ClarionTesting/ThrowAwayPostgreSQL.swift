import Foundation

/// A PostgreSQL server of its own for a test: in a temporary folder, on a unix socket, without waiting for the disk.
///
/// A machine without PostgreSQL makes the test fail, it does not skip it. The server refuses to run as root, so privileges
/// are dropped first when the test has them.
public struct ThrowAwayPostgreSQL: Sendable {
    /// Why there is no server.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let folder: String
    private let programs: String
    private let runner: [String]
    private let server = Process()

    /// Runs the body with a server and removes the server afterwards, whatever happens.
    public static func with<Result>(_ body: (ThrowAwayPostgreSQL) async throws -> Result) async throws -> Result {
        let server = try ThrowAwayPostgreSQL()
        do {
            try await server.start()
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Runs a script and returns what it printed. Throws with the server's message at the first error.
    public func run(script: String) async throws -> String {
        let file = folder + "/script-\(UUID().uuidString).sql"
        try Data(script.utf8).write(to: URL(fileURLWithPath: file))
        return try await call(
            "psql",
            ["-h", folder, "-U", "clarion", "-d", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", file])
    }

    private init() throws {
        guard let programs = Self.findPrograms() else {
            throw Failure(
                description: "PostgreSQL was not found on PATH or in /usr/lib/postgresql; install it with: apt install postgresql"
            )
        }
        self.programs = programs
        folder = "/tmp/clarion-postgresql-\(UUID().uuidString.prefix(8))"
        runner = getuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The script files of `run` are read by psql as the same user that owns the server's folder.
        if getuid() == 0 { chown(folder, 65534, 65534) }
    }

    /// The server runs in the foreground as a child of the test: `pg_ctl` would leave it behind with the descriptors by which
    /// `Process` notices the end of a child.
    private func start() async throws {
        _ = try await call(
            "initdb", ["-D", folder + "/data", "-A", "trust", "-U", "clarion", "-E", "UTF8", "--locale=C", "--no-sync"])
        try process(
            "postgres",
            [
                "-D", folder + "/data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off",
            ],
            output: folder + "/server.log", server
        ).run()
        for _ in 1...200 where server.isRunning {
            if (try? await run(script: "SELECT 1;")) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(description: "the server did not start: \(text(of: folder + "/server.log"))")
    }

    private func stop() async {
        if server.isRunning {
            // A fast shutdown: connections are ended, nothing is waited for.
            server.interrupt()
            for _ in 1...200 where server.isRunning { try? await Task.sleep(for: .milliseconds(25)) }
            if server.isRunning { kill(server.processIdentifier, SIGKILL) }
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func call(_ program: String, _ arguments: [String]) async throws -> String {
        let output = folder + "/output-\(UUID().uuidString)"
        let status = try await Self.exitStatus(of: process(program, arguments, output: output, Process()))
        guard status == 0 else { throw Failure(description: "\(program) ended with \(status): \(text(of: output))") }
        return text(of: output)
    }

    private func process(_ program: String, _ arguments: [String], output: String, _ process: Process) -> Process {
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = runner + [programs + "/" + program] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let handle = FileHandle(forWritingAtPath: output)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        return process
    }

    private func text(of file: String) -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }

    private static func exitStatus(of process: Process) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }

    /// The folder that holds all the programs: the newest installed version, or a folder on PATH.
    private static func findPrograms() -> String? {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap(Int.init).sorted(by: >)
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (versions.map { "\(root)/\($0)/bin" } + path).first { folder in
            ["initdb", "postgres", "psql"].allSatisfy { FileManager.default.isExecutableFile(atPath: folder + "/" + $0) }
        }
    }
}
