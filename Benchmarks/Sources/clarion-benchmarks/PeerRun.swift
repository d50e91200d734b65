import Foundation

/// One run of a peer, with everything that it starts. What it uses is read from outside (Linux).
final class PeerRun {
    /// What a peer may print as its last line.
    struct Report: Decodable {
        /// Milliseconds of a push, from the call to its answer, which 99 of 100 stay below.
        var p99: Double?
        /// Whether it keeps what it took when it is killed, so that a second run goes on with it.
        var keeps: Bool?
        /// Whether it sends to each device token, so that what is lost and doubled can be counted.
        var isCounted: Bool?
    }

    private let process = Process()
    private let output: URL
    private let start = ContinuousClock.now
    private let before = CommandRun.childrenProcessor()
    /// Processor time, and time since the start, when it began to send.
    private var ready: (processor: Double, seconds: Double)?

    private(set) var peakMegabytes = 0.0

    init(_ command: String, environment: [String: String], folder: URL) throws {
        output = folder.appending(path: "output")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = CommandRun.pinned(to: 0, ["sh", "-c", "exec \(command)"])
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CLARION_") }
            .merging(environment) { _, given in given }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
    }

    /// Until it has ended.
    func watch() throws {
        while process.isRunning {
            let family = Self.family(of: "\(process.processIdentifier)")
            peakMegabytes = max(peakMegabytes, family.map(Self.peakMegabytes).reduce(0, +))
            if ready == nil, (try? String(contentsOf: output, encoding: .utf8))?.hasPrefix("ready\n") == true {
                ready = (try family.map(Self.processor).reduce(0, +), start.duration(to: .now) / .seconds(1))
            }
            usleep(10_000)
        }
    }

    /// Ends it and all that it started, as a loss of power would, when it is time.
    func kill(when isTime: () throws -> Bool) throws {
        while try process.isRunning && !isTime() { usleep(1_000) }
        for id in Self.family(of: "\(process.processIdentifier)").compactMap({ pid_t($0) }) { Foundation.kill(id, SIGKILL) }
        process.waitUntilExit()
    }

    /// Processor time and time from the line `ready` on, or all of it, and what it reported.
    func end() throws -> (processor: Double, seconds: Double, report: Report) {
        let seconds = start.duration(to: .now) / .seconds(1)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CommandRun.Fault("it ended with \(process.terminationStatus)") }
        let processor = CommandRun.childrenProcessor() - before
        let line = try String(contentsOf: output, encoding: .utf8).split(separator: "\n").last ?? ""
        let report = try? JSONDecoder().decode(Report.self, from: Data(line.utf8))
        return (processor - (ready?.processor ?? 0), seconds - (ready?.seconds ?? 0), report ?? Report())
    }

    /// A process and all below it, itself first.
    private static func family(of id: String) -> [String] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
        let children = threads.flatMap { thread in
            let text = try? String(contentsOfFile: "/proc/\(id)/task/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").map { String($0) }
        }
        return [id] + children.flatMap { family(of: $0) }
    }

    private static func processor(of id: String) throws -> Double {
        try ProcessTimes.seconds(of: id) + ProcessTimes.seconds(ofChildrenOf: id)
    }

    private static func peakMegabytes(of id: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1000
    }
}
