/// The progress of long work in words: part, amount, rate and the time that is left.
public struct ProgressMeter: Sendable {
    /// What is counted.
    public enum Unit: Hashable, Sendable {
        /// Shown in megabytes.
        case bytes
        /// Things with this name in the plural.
        case counted(String)
    }

    /// `nil` when nothing says how much there is to do. The work may end before it has done as much.
    private let total: Int64?
    private let unit: Unit

    /// Measures against so much.
    public init(total: Int64?, unit: Unit = .bytes) {
        self.total = total
        self.unit = unit
    }

    /// For example `45 %, 12.3 of 27.1 MB, 10.2 MB/s, 2 s left`. The rate is the mean since the start, and without one there is no
    /// time left either. Without a total it is the time since the start: `12 s so far`.
    public func line(done: Int64, after elapsed: Duration) -> String {
        guard let total else { return "\(Self.time(elapsed.components.seconds)) so far" }
        let done = min(max(0, done), total)
        var parts = ["\(total > 0 ? done * 100 / total : 100) %", amount(done, of: total)]
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        if done > 0, seconds > 0 {
            let perSecond = Double(done) / seconds
            parts.append(rate(perSecond))
            parts.append("\(Self.time(Int64((Double(total - done) / perSecond).rounded(.up)))) left")
        }
        return parts.joined(separator: ", ")
    }

    private func amount(_ done: Int64, of total: Int64) -> String {
        switch unit {
        case .bytes: "\(Self.tenths(done / 100_000)) of \(Self.tenths(total / 100_000)) MB"
        case .counted(let name): "\(Self.grouped(done)) of \(Self.grouped(total)) \(name)"
        }
    }

    private func rate(_ perSecond: Double) -> String {
        switch unit {
        case .bytes: "\(Self.tenths(Int64(perSecond / 100_000))) MB/s"
        case .counted(let name):
            "\(perSecond < 10 ? Self.tenths(Int64(perSecond * 10)) : Self.grouped(Int64(perSecond))) \(name)/s"
        }
    }

    /// A number of tenths with its decimal point.
    private static func tenths(_ number: Int64) -> String { "\(number / 10).\(number % 10)" }

    /// With a comma before each three digits.
    private static func grouped(_ number: Int64) -> String {
        let digits = Array("\(number)")
        return digits.indices.map { index in
            let rest = digits.count - index
            return index > 0 && rest.isMultiple(of: 3) ? ",\(digits[index])" : "\(digits[index])"
        }.joined()
    }

    private static func time(_ seconds: Int64) -> String {
        if seconds < 60 { return "\(seconds) s" }
        return seconds < 3_600 ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    }
}
