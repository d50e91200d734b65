import Foundation

/// PgBouncer in transaction mode before a throw-away PostgreSQL: every transaction may run on another connection of the server. On a
/// unix socket in a temporary folder.
///
/// A machine without it makes the test fail, it does not skip it.
public final class ThrowAwayPgBouncer: Sendable {
    /// Why there is none.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let folder: String
    private let process: ChildProcess

    /// Runs the body with a pooler that opens at most so many connections for each database.
    public static func with<Result>(
        _ server: ThrowAwayPostgreSQL, connections: Int = 4, _ body: (ThrowAwayPgBouncer) async throws -> Result
    ) async throws -> Result {
        let pooler = try ThrowAwayPgBouncer(server, connections)
        do {
            try await pooler.isReady()
            let result = try await body(pooler)
            await pooler.stop()
            return result
        } catch {
            await pooler.stop()
            throw error
        }
    }

    /// Where a database of the server is, by way of the pooler.
    public func url(database: String) -> String {
        "postgres://clarion@/\(database)?host=\(folder.replacingOccurrences(of: "/", with: "%2F"))&port=6432"
    }

    private init(_ server: ThrowAwayPostgreSQL, _ connections: Int) throws {
        let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
        guard let program = places.first(where: FileManager.default.isExecutableFile) else {
            throw Failure(description: "PgBouncer was not found; install it with: apt install pgbouncer")
        }
        folder = "/tmp/clarion-pgbouncer-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let settings = """
            [databases]
            * = host=\(server.folder) user=clarion
            [pgbouncer]
            pool_mode = transaction
            default_pool_size = \(connections)
            max_client_conn = 500
            auth_type = any
            unix_socket_dir = \(folder)
            listen_port = 6432

            """
        try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/settings.ini"))
        if getuid() == 0 { chown(folder, 65534, 65534) }
        let runner = getuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        process = try ChildProcess(
            ChildProcess.Command(
                "env", ["-C", folder] + runner + [program, folder + "/settings.ini"], output: folder + ".log"))
    }

    private func isReady() async throws {
        for _ in 1...600 where process.isRunning {
            if isListening { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Failure(description: (try? String(contentsOfFile: folder + ".log", encoding: .utf8)) ?? "it did not start")
    }

    /// The socket exists a moment before the process listens on it.
    private var isListening: Bool {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array((folder + "/.s.PGSQL.6432").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private func stop() async {
        process.signal(SIGTERM)
        for _ in 1...100 where process.isRunning { try? await Task.sleep(for: .milliseconds(20)) }
        process.signal(SIGKILL)
        _ = await process.exitStatus()
        try? FileManager.default.removeItem(atPath: folder)
        try? FileManager.default.removeItem(atPath: folder + ".log")
    }
}
