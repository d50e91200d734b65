import Foundation

/// What this process has used.
struct Resources {
    /// User and system, in seconds.
    var processor: Double
    /// Bytes.
    var resident: Int

    static func now() -> Resources {
        var usage = rusage()
        // 0 is RUSAGE_SELF, which has another type on each platform.
        getrusage(0, &usage)
        let processor = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        return Resources(processor: processor, resident: residentBytes())
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }

    /// From `/proc/self/status`; 0 where there is none.
    static func residentBytes() -> Int { statusBytes("VmRSS:") }

    /// The most that this program ever had, in bytes. `getrusage` would count what was there before it was started.
    static func peakBytes() -> Int { statusBytes("VmHWM:") }

    private static func statusBytes(_ name: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return 0 }
        return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
            ?? 0
    }
}
