import Foundation

/// The program under measurement, running.
final class ServerProcess {
    private let process = Process()

    init(program: String, arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        // Only what the measurement says counts: a setting in the caller's environment would measure something else.
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CLARION_") }
            .merging(environment) { _, given in given }
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// User and system time so far (Linux).
    func processorSeconds() throws -> Double {
        try ProcessTimes.seconds(of: String(process.processIdentifier))
    }

    /// The most resident memory it ever had (Linux).
    func peakMegabytes() throws -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        guard let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) }) else {
            throw CommandRun.Fault("the memory of the server cannot be read")
        }
        return kilobytes / 1000
    }

    /// How many files and sockets it has open (Linux).
    func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd").count
    }

    /// What `/proc` calls VmRSS; on macOS what `ps` calls rss (not run here).
    func residentMegabytes() throws -> Double {
        let id = process.processIdentifier
        if let status = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) {
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
            guard let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) }) else {
                throw ServeBenchmark.Fault(description: "the memory of the server cannot be read")
            }
            return kilobytes / 1000
        }
        let ps = Process()
        let pipe = Pipe()
        ps.executableURL = URL(filePath: "/bin/ps")
        ps.arguments = ["-o", "rss=", "-p", "\(id)"]
        ps.standardOutput = pipe
        try ps.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return (Double(text.filter(\.isNumber)) ?? .infinity) / 1000
    }
}
