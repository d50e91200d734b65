import Foundation

/// A command that ran to its end, and what it used.
struct CommandRun {
    struct Fault: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var output: String
    /// User and system time of the whole process, in seconds.
    var processor: Double
    var seconds: Double

    /// The command on one core, where cores can be chosen.
    static func pinned(to core: Int, _ command: [String]) -> [String] {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/taskset") ? ["taskset", "-c", "\(core)"] + command : command
    }

    /// Runs a command on the client's core, or on `core`. One at a time: the system sums the usage of all children.
    static func client(
        _ command: [String], core: Int = 0, environment: [String: String] = [:], input: String? = nil
    ) throws -> CommandRun {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = pinned(to: core, command)
        process.standardOutput = pipe
        let text = Pipe()
        process.standardInput = input == nil ? FileHandle.nullDevice : text
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
        let before = childrenProcessor()
        let start = ContinuousClock.now
        try process.run()
        // Less than a pipe holds.
        if let input { try text.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        try text.fileHandleForWriting.close()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let seconds = start.duration(to: .now) / .seconds(1)
        guard process.terminationStatus == 0 else {
            throw Fault("\(command[0]) ended with \(process.terminationStatus)")
        }
        return CommandRun(
            output: String(decoding: output, as: UTF8.self), processor: childrenProcessor() - before, seconds: seconds)
    }

    /// Begins a node in a data directory. Its file of settings lies there too, and nothing reads it.
    static func begin(_ program: String, data: String) throws {
        let words = [
            program, "init", "--administrator", "operator", "--config", data + "/clarion.yaml", "--data-directory", data,
        ]
        _ = try client(words, input: "a long password of the operator\n")
    }

    /// That of all children that have ended, and of theirs.
    static func childrenProcessor() -> Double {
        var usage = rusage()
        // -1 is RUSAGE_CHILDREN, which has another type on each platform.
        getrusage(-1, &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
}
