import Foundation

/// A command that runs beside others.
struct RunningCommand {
    private let process = Process()
    private let pipe = Pipe()

    init(_ command: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// What it printed, when it has ended.
    func output() throws -> String {
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CommandRun.Fault("a command ended with \(process.terminationStatus)") }
        return String(decoding: output, as: UTF8.self)
    }
}
