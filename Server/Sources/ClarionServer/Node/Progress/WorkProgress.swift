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
