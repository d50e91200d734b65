import Foundation

/// The processor time of a process (Linux).
enum ProcessTimes {
    /// User and system time so far; nothing for one that is gone.
    static func seconds(of id: String) throws -> Double { try sum(of: id, fields: 11...12) }

    /// The same of its children that have ended.
    static func seconds(ofChildrenOf id: String) throws -> Double { try sum(of: id, fields: 13...14) }

    /// Behind the name, which may hold anything, `utime` and `stime` are the 12th and 13th field, in ticks of the clock.
    private static func sum(of id: String, fields: ClosedRange<Int>) throws -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return 0 }
        let words = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard words.count > fields.upperBound else { throw CommandRun.Fault("the processor time of a process cannot be read") }
        return words[fields].compactMap { Double($0) }.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
