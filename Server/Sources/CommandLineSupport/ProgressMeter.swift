/// The progress of long work in words: part, amount, rate and the time that is left.
struct ProgressMeter: Sendable {
    /// In bytes. The work may end before it has written as many.
    private let total: Int64

    /// Measures against so many bytes.
    init(total: Int64) { self.total = total }

    /// For example `45 %, 12.3 of 27.1 MB, 10.2 MB/s, 2 s left`. The rate is the mean since the start, and without one there is no
    /// time left either.
    func line(done: Int64, after elapsed: Duration) -> String {
        let done = min(max(0, done), total)
        var parts = ["\(total > 0 ? done * 100 / total : 100) %", "\(Self.megabytes(done)) of \(Self.megabytes(total)) MB"]
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        if done > 0, seconds > 0 {
            let rate = Double(done) / seconds
            parts.append("\(Self.megabytes(Int64(rate))) MB/s")
            parts.append("\(Self.time(Int64((Double(total - done) / rate).rounded(.up)))) left")
        }
        return parts.joined(separator: ", ")
    }

    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = bytes / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func time(_ seconds: Int64) -> String {
        if seconds < 60 { return "\(seconds) s" }
        return seconds < 3_600 ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    }
}
