import Foundation

/// The program under measurement, running.
final class ServerProcess {
    private let process = Process()

    init(program: String, arguments: [String]) throws {
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        // Only what the measurement says counts: a setting in the caller's environment would measure something else.
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CLARION_") }
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// User and system time so far (Linux).
    func processorSeconds() throws -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)) ?? ""
        // Behind the name, which may hold anything, `utime` and `stime` are the 12th and 13th field, in hundredths of a second.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw CommandRun.Fault("the processor time of the server cannot be read")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
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
