#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How much memory a process holds (Linux; nothing is known elsewhere).
struct ProcessMemory: Hashable, Sendable {
    /// All that is resident, program code included.
    var resident: Int
    /// What is its own: written pages, which is what counts on a phone.
    var own: Int

    /// `nil` when it cannot be read, for example because the process has ended.
    static func of(_ processID: Int32) -> ProcessMemory? {
        guard let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8) else { return nil }
        var memory = ProcessMemory(resident: 0, own: 0)
        for line in status.split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 2, let kilobytes = Int(words[1]) else { continue }
            if words[0] == "VmRSS:" { memory.resident = kilobytes << 10 }
            if words[0] == "RssAnon:" || words[0] == "RssShmem:" { memory.own += kilobytes << 10 }
        }
        return memory.resident > 0 ? memory : nil
    }
}
