import Foundation
import Synchronization

/// A PostgreSQL server of its own for a test: in a temporary folder, on a unix socket, without waiting for the disk.
///
/// A machine without PostgreSQL makes the test fail, it does not skip it. The server refuses to run as root, so privileges
/// are dropped first when the test has them.
public final class ThrowAwayPostgreSQL: Sendable {
    /// Why there is no server.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// A listener at a port of 127.0.0.1 besides the socket: with TLS and with passwords (SCRAM), which the socket asks for neither.
    public struct SecureListener: Sendable {
        /// PEM: the certificate of the server and those between it and the authority.
        public var certificate: String
        public var key: String

        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    let folder: String
    /// The port of the TLS listener, which is also part of the socket's name.
    public let port: Int
    private let listener: SecureListener?
    /// Settings such as `fsync=on`, which win over those that a test server has anyhow.
    private let settings: [String]
    private let programs: String
    private let runner: [String]
    let process = Mutex<ChildProcess?>(nil)

    /// Runs the body with a server and removes the server afterwards, whatever happens.
    public static func with<Result>(
        _ listener: SecureListener? = nil, settings: [String] = [], _ body: (ThrowAwayPostgreSQL) async throws -> Result
    ) async throws -> Result {
        let server = try ThrowAwayPostgreSQL(listener, settings: settings)
        defer { try? FileManager.default.removeItem(atPath: server.folder) }
        do {
            try await server.make()
            try await server.start()
            let result = try await body(server)
            await server.stop(by: SIGQUIT)
            return result
        } catch {
            await server.stop(by: SIGQUIT)
            throw error
        }
    }

    /// Where a database of the server is.
    public func url(database: String = "postgres") -> String {
        "postgres://clarion@/\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))&port=\(port)"
    }

    /// The socket at which it listens, for a proxy before it.
    public var socketPath: String { folder + "/.s.PGSQL.\(port)" }

    /// Ends the server and starts it again. Every connection ends.
    public func restart() async throws {
        await stop()
        try await start()
    }

    /// Runs a script and returns what it printed. Throws with the server's message at the first error.
    public func run(script: String, database: String = "postgres") async throws -> String {
        let file = folder + "/script-\(UUID().uuidString).sql"
        try Data(script.utf8).write(to: URL(fileURLWithPath: file))
        return try await call(
            "psql",
            [
                "-h", folder, "-p", "\(port)", "-U", "clarion", "-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
                "-f", file,
            ])
    }

    /// A dump of a database as statements.
    public func dump(database: String) async throws -> String {
        try await call("pg_dump", ["-h", folder, "-p", "\(port)", "-U", "clarion", "-d", database, "--inserts", "--no-owner"])
    }

    /// Copies a database by a dump and its restoration, as an operator does.
    public func copy(database: String, to copy: String) async throws {
        let file = folder + "/dump-\(UUID().uuidString).sql"
        _ = try await call("pg_dump", ["-h", folder, "-p", "\(port)", "-U", "clarion", "-d", database, "-f", file])
        _ = try await run(script: "CREATE DATABASE \(copy);")
        _ = try await call(
            "psql", ["-h", folder, "-p", "\(port)", "-U", "clarion", "-d", copy, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file])
    }

    init(_ listener: SecureListener? = nil, settings: [String] = []) throws {
        guard let programs = Self.findPrograms() else {
            throw Failure(
                description: "PostgreSQL was not found on PATH or in /usr/lib/postgresql; install it with: apt install postgresql"
            )
        }
        self.programs = programs
        self.listener = listener
        self.settings = settings
        port = try listener == nil ? 5432 : QuietPort.choose()
        folder = "/tmp/clarion-postgresql-\(UUID().uuidString.prefix(8))"
        runner = getuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The script files of `run` are read by psql as the same user that owns the server's folder.
        if getuid() == 0 { chown(folder, 65534, 65534) }
    }

    func make() async throws {
        _ = try await call(
            "initdb", ["-D", folder + "/data", "-A", "trust", "-U", "clarion", "-E", "UTF8", "--locale=C", "--no-sync"])
        guard let listener else { return }
        // As the user who runs the server, which accepts only a key that no other user can read.
        try Data((listener.certificate).utf8).write(to: URL(fileURLWithPath: folder + "/server.pem"))
        try Data((listener.key).utf8).write(to: URL(fileURLWithPath: folder + "/server.key"))
        chmod(folder + "/server.key", 0o600)
        if getuid() == 0 { chown(folder + "/server.key", 65534, 65534) }
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
        try Data(rules.utf8).write(to: URL(fileURLWithPath: folder + "/rules.conf"))
    }

    private var doorOptions: [String] {
        guard listener != nil else { return ["listen_addresses="] }
        return [
            "listen_addresses=127.0.0.1", "port=\(port)", "ssl=on", "ssl_cert_file=\(folder)/server.pem",
            "ssl_key_file=\(folder)/server.key", "hba_file=\(folder)/rules.conf", "password_encryption=scram-sha-256",
        ]
    }

    /// Starts the server, again after `stop`. It runs in the foreground as a child of the test, so that it can be waited for and
    /// nothing stays behind. Without autovacuum, which would gather statistics of tables that the test before has just emptied.
    public func start() async throws {
        let server = try ChildProcess(
            command(
                "postgres",
                [
                    "-D", folder + "/data", "-k", folder, "-c", "fsync=off", "-c",
                    "full_page_writes=off", "-c", "max_connections=1000", "-c", "shared_buffers=32MB", "-c", "autovacuum=off",
                ] + (doorOptions + settings).flatMap { ["-c", $0] }, output: folder + "/server.log"))
        process.withLock { $0 = server }
        for _ in 1...600 where server.isRunning {
            if (try? await run(script: "SELECT 1;")) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        await stop()
        throw Failure(description: "the server did not start: \(text(of: folder + "/server.log"))")
    }

    /// A fast shutdown first: connections are ended, nothing is waited for. Then by force. After `SIGQUIT` nothing is written any more.
    public func stop(by signal: Int32 = SIGINT) async {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        guard let running else { return }
        running.signal(signal)
        for _ in 1...200 where running.isRunning { try? await Task.sleep(for: .milliseconds(25)) }
        running.signal(SIGKILL)
        _ = await running.exitStatus()
    }

    @discardableResult
    func call(_ program: String, _ arguments: [String]) async throws -> String {
        let output = folder + "/output-\(UUID().uuidString)"
        let status = try await ChildProcess(command(program, arguments, output: output)).exitStatus()
        guard status == 0 else { throw Failure(description: "\(program) ended with \(status): \(text(of: output))") }
        return text(of: output)
    }

    private func command(_ program: String, _ arguments: [String], output: String) -> ChildProcess.Command {
        // In its own folder: the user without privileges may not read the one of the test.
        ChildProcess.Command("env", ["-C", folder] + runner + [programs + "/" + program] + arguments, output: output)
    }

    private func text(of file: String) -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }

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
