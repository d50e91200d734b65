import Foundation

extension ThrowAwayPostgreSQL {
    /// Runs the body with a replica that follows this server by streaming, under a name for `synchronous_standby_names`.
    public func withReplica<Result>(
        _ name: String, settings: [String] = [], _ body: (ThrowAwayPostgreSQL) async throws -> Result
    ) async throws -> Result {
        let source = "host=\(folder) port=\(port) user=clarion application_name=\(name)"
        let replica = try ThrowAwayPostgreSQL(settings: settings + ["primary_conninfo=\(source)"])
        defer { try? FileManager.default.removeItem(atPath: replica.folder) }
        do {
            try await replica.call(
                "pg_basebackup",
                ["-D", replica.folder + "/data", "-h", folder, "-p", "\(port)", "-U", "clarion", "-c", "fast", "--no-sync"])
            try Data().write(to: URL(fileURLWithPath: replica.folder + "/data/standby.signal"))
            try await replica.start()
            let result = try await body(replica)
            await replica.stop()
            return result
        } catch {
            await replica.stop()
            throw error
        }
    }

    /// Makes a replica the server that takes writes.
    public func promote() async throws { _ = try await run(script: "SELECT pg_promote();") }

    /// Ends the server at once, as a loss of its machine does: nothing that it still holds in memory is written or sent.
    public func kill() async throws {
        let workers = try await run(script: "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid();")
        let server = process.withLock { process in
            defer { process = nil }
            return process
        }
        server?.signal(SIGKILL)
        for worker in workers.split(separator: "\n").compactMap({ Int32($0) }) { _ = Foundation.kill(worker, SIGKILL) }
        _ = await server?.exitStatus()
    }
}
