import RichPushModel
import Synchronization

/// How far long work has come. The work writes it from any thread, and a display reads it.
public final class WorkProgress: Sendable {
    private struct Stage {
        var name: String
        var detail = ""
        var meter: ProgressMeter
        var begun: Duration
        var done: Int64 = 0
        /// What is done besides, and is measured when the line is read.
        var measured: @Sendable () -> Int64
    }

    let clock: any ServiceClock
    private let stage = Mutex<Stage?>(nil)

    /// Creates the progress of work that has not begun.
    public init(clock: any ServiceClock = .system) { self.clock = clock }

    /// Begins a stage of the work, in which so much is to be done; `nil` when nothing says how much. The rate and the time that is left are
    /// those of the stage alone. `measured` returns what is done besides what `advance` says, for work that does not report.
    public func begin(
        _ name: String, total: Int64? = nil, unit: ProgressMeter.Unit = .bytes,
        measured: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        let begun = clock.uptime
        stage.withLock {
            $0 = Stage(name: name, meter: ProgressMeter(total: total, unit: unit), begun: begun, measured: measured)
        }
    }

    /// Says how much of the stage is done, and on what the work is at the moment.
    public func advance(to done: Int64, at detail: String = "") {
        stage.withLock {
            $0?.done = done
            $0?.detail = detail
        }
    }

    /// Says how much more of the stage is done.
    public func advance(by count: Int64) {
        stage.withLock { $0?.done += count }
    }

    /// The stage and its progress in one line, for example `copying devices: 45 %, …`. `nil` before the first stage.
    public var line: String? {
        guard let stage = stage.withLock({ $0 }) else { return nil }
        let name = stage.detail.isEmpty ? stage.name : "\(stage.name) \(stage.detail)"
        return "\(name): \(stage.meter.line(done: stage.done + stage.measured(), after: clock.uptime - stage.begun))"
    }
}

/// Describes the progress of long work: part, amount, rate and remaining time.
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
    init(total: Int64?, unit: Unit = .bytes) {
        self.total = total
        self.unit = unit
    }

    /// For example `45 %, 12.3 of 27.1 MB, 10.2 MB/s, 2 s left`. The rate is the mean since the start, and without one there is no
    /// time left either. Without a total it is the time since the start: `12 s so far`.
    func line(done: Int64, after elapsed: Duration) -> String {
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

/// Shows how far long work is while it runs.
public struct ProgressDisplay: Sendable {
    /// What can be done with the place where it is shown.
    public enum Style: Hashable, Sendable {
        /// A terminal: one line that is written anew four times a second, and is gone when the work ends.
        case rewritten
        /// A file, a pipe or a log: a line every ten seconds.
        case lines

        fileprivate var pause: Duration { self == .rewritten ? .milliseconds(250) : .seconds(10) }
    }

    /// To the start of the line, which is emptied.
    private static let emptied = "\r\u{1B}[2K"
    /// Around a line: the terminal cuts it at its edge. A line that goes on in the next one could not be written anew.
    private static let (unwrapped, wrapped) = ("\u{1B}[?7l", "\u{1B}[?7h")

    private let style: Style
    private let write: @Sendable (String) -> Void

    /// Creates a display that hands its text to `write`, in pieces that belong together.
    public init(_ style: Style, write: @escaping @Sendable (String) -> Void) {
        self.style = style
        self.write = write
    }

    /// Does the work and shows its progress meanwhile. Work that is shorter than a pause between two lines shows none. Throws what the
    /// work throws.
    public func show<Result>(_ progress: WorkProgress, during work: () async throws -> Result) async throws -> Result {
        // Before the result or the error is written there.
        defer { if style == .rewritten { write(Self.emptied) } }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await follow(progress) }
            defer { group.cancelAll() }
            return try await work()
        }
    }

    /// Writes a sentence in a line of its own, which stays.
    public func note(_ sentence: String) { write("\(style == .rewritten ? Self.emptied : "")\(sentence)\n") }

    /// Until it is cancelled.
    private func follow(_ progress: WorkProgress) async {
        while (try? await progress.clock.sleep(for: style.pause)) != nil {
            guard let line = progress.line else { continue }
            switch style {
            case .rewritten: write("\(Self.emptied)\(Self.unwrapped)\(line)\(Self.wrapped)")
            case .lines: write("\(line)\n")
            }
        }
    }
}
