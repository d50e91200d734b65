import Foundation

/// What the operating system says of this process, for the metrics that Prometheus clients share (`process_…`).
public struct ProcessNumbers: Hashable, Sendable {
    /// Processor time of all threads, user and system, in seconds.
    public var cpuSeconds: Double
    /// Memory that lies in RAM, in bytes.
    public var residentBytes: Int
    /// When the process began, in seconds since 1970.
    public var startedAt: Double
    /// Files and sockets that are open.
    public var openFiles: Int
}

extension ProcessNumbers {
    /// The numbers of now; `nil` where there is no `/proc`.
    public static func current() -> ProcessNumbers? {
        guard let own = text("/proc/self/stat"), let system = text("/proc/stat"),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        // Reading the folder opens one more.
        return ProcessNumbers(
            own: own, system: system, openFiles: max(0, files.count - 1), ticksPerSecond: Int(sysconf(Int32(_SC_CLK_TCK))),
            pageSize: Int(getpagesize()))
    }

    /// Reads the text of `/proc/self/stat` and `/proc/stat` (man page proc(5)).
    init?(own: String, system: String, openFiles: Int, ticksPerSecond: Int, pageSize: Int) {
        // The name of the program may hold blanks and brackets; the last bracket ends it. The state follows as field 3.
        guard ticksPerSecond > 0, let end = own.lastIndex(of: ")") else { return nil }
        let fields = own[own.index(after: end)...].split(whereSeparator: \.isWhitespace)
        func field(_ number: Int) -> Int? { fields.indices.contains(number - 3) ? Int(fields[number - 3]) : nil }
        let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Int($0.dropFirst(6)) }
        guard let user = field(14), let kernel = field(15), let start = field(22), let pages = field(24), let boot else {
            return nil
        }
        cpuSeconds = Double(user + kernel) / Double(ticksPerSecond)
        residentBytes = pages * pageSize
        startedAt = Double(boot) + Double(start) / Double(ticksPerSecond)
        self.openFiles = openFiles
    }

    private static func text(_ path: String) -> String? {
        // Files below /proc say that they are empty, so they are read to their end.
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
