import Foundation

/// `clarion serve` on an empty folder: how soon it answers, and how much memory it holds when nothing happens.
struct ServeBenchmark {
    let program: String
    let rounds: Int

    private static let startLimit = 1000.0
    private static let memoryLimit = 80.0
    /// How long an idle server is left alone before its memory is read.
    private static let idleTime = 2.0

    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    func run() throws -> [Measurement] {
        var start = Measurement(name: "start to answering, new data", unit: "ms", values: [], limit: Self.startLimit)
        var again = Measurement(name: "start to answering, same data", unit: "ms", values: [], limit: Self.startLimit)
        var memory = Measurement(name: "resident memory, idle", unit: "MB", values: [], limit: Self.memoryLimit)
        for _ in 0..<rounds {
            let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-benchmark-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            start.values.append(try serve(folder) { _ in })
            again.values.append(
                try serve(folder) { server in
                    Thread.sleep(forTimeInterval: Self.idleTime)
                    memory.values.append(try server.residentMegabytes())
                })
        }
        return [start, again, memory]
    }

    /// Starts a server, waits until it answers, does something with it and stops it; the milliseconds until it answered.
    private func serve(_ folder: URL, _ body: (ServerProcess) throws -> Void) throws -> Double {
        let port = try LoopbackSocket.freePort()
        let begin = ContinuousClock.now
        let server = try ServerProcess(
            program: program,
            arguments: ["serve", "--data-directory", folder.path(), "--listen-port", "\(port)", "--log-level", "warning"])
        defer { server.stop() }
        while !LoopbackSocket.answers(port: port, path: "/readyz") {
            guard server.isRunning else { throw Fault(description: "the server ended before it answered") }
            guard ContinuousClock.now - begin < .seconds(30) else { throw Fault(description: "the server does not answer") }
            usleep(2000)
        }
        let taken = ContinuousClock.now - begin
        try body(server)
        return Double(taken.components.seconds) * 1000 + Double(taken.components.attoseconds) / 1e15
    }
}
