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

    /// From `/proc/self/statm`; 0 where there is none.
    private static func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}
