import Foundation

/// Upserts of registrations through HTTP at the built program: each new, and then each as it is. The server has one core, the
/// callers have the other.
struct HubBenchmark {
    static let requests = 60_000
    static let connections = [64, 256]

    let program: String
    let load: String
    let rounds: Int

    /// What `hub-load` prints.
    private struct Report: Decodable {
        var refused: Int
        var seconds: Double
        var median: Double
        var late: Double
    }

    func run() throws -> [Measurement] {
        var all: [Measurement] = []
        for connections in Self.connections {
            var rows = ["new", "renewed"].map { kind in
                let name = "\(kind) registrations, \(connections) connections"
                return [
                    Measurement(name: "\(name), per second", unit: "", values: [], limit: nil),
                    Measurement(name: "\(name), per CPU second", unit: "", values: [], limit: nil),
                    Measurement(name: "\(name), late answers", unit: "ms", values: [], limit: nil),
                ]
            }
            for _ in 0..<rounds {
                for (row, values) in try round(connections).enumerated() {
                    for (column, value) in values.enumerated() { rows[row][column].values.append(value) }
                }
            }
            all += rows.flatMap { $0 }
        }
        return all
    }

    /// A server on new data; the figures of new and of renewed registrations.
    private func round(_ connections: Int) throws -> [[Double]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = ["--data-directory", folder.path()]
        try CommandRun.begin(program, data: folder.path)
        _ = try CommandRun.client([program, "hub", "create", "bench"] + data)
        let text = try CommandRun.client([program, "hub", "connection-string", "bench", "--host", "127.0.0.1"] + data).output
        guard let range = text.range(of: "SharedAccessKey=") else { throw CommandRun.Fault("there is no connection string") }
        let key = text[range.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines)
        let port = try LoopbackSocket.freePort()
        let command = CommandRun.pinned(
            to: 0, [program, "serve", "--listen-port", "\(port)", "--log-level", "warning"] + data)
        let server = try ServerProcess(program: "/usr/bin/env", arguments: command)
        defer { server.stop() }
        for _ in 0..<5_000 where !LoopbackSocket.answers(port: port, path: "/readyz") { usleep(2_000) }
        return try (0..<2).map { _ in try upserts(server, port, key, connections) }
    }

    private func upserts(_ server: ServerProcess, _ port: UInt16, _ key: String, _ connections: Int) throws -> [Double] {
        let before = try server.processorSeconds()
        let run = try CommandRun.client(
            [load, "\(port)", "bench", "DefaultFullSharedAccessSignature", key, "\(connections)", "0", "\(Self.requests)"],
            core: 1)
        let used = try server.processorSeconds() - before
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        guard report.refused == 0 else { throw CommandRun.Fault("\(report.refused) requests were refused") }
        return [Double(Self.requests) / report.seconds, Double(Self.requests) / used, report.late]
    }
}
