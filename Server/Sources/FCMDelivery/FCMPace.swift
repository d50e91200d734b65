import FCMProtocol
import PushHub
import RichPushModel

/// How fast the messages of one project may leave (Reference/FCM.md#3-2, #4). A value; time is given to it.
///
/// Messages that were let go are paid for in time. The pace rises from slow to full after a start, after a long rest, and after refusals for
/// now: one that is about the project, or several without an accepted message between them, since a single one may concern a single request.
/// Then nothing leaves for a while, unless they were about devices: one that gets too much must not hold up the others.
struct FCMPace: Sendable {
    /// Whether messages may leave.
    enum Departure: Hashable {
        /// So many, at once.
        case go(Int)
        /// Ask again after this.
        case wait(Duration)
        /// FCM has asked to wait so long.
        case paused(Duration, reason: String)
    }

    /// The part of the full pace with which it begins.
    static let slowest = 0.05
    /// After so long without a message the pace begins anew.
    static let rest: Duration = .seconds(300)
    /// So many refusals in a row concern the project.
    static let refusalLimit = 3
    /// So many in a row that are said of single devices concern the project too: Google uses one code for both (Reference/FCM.md#3-3).
    static let deviceRefusalLimit = 50
    /// Messages leave in portions of so much time, and at most so much lost time is made up.
    private static let portion = 0.01
    private static let slack: Duration = .milliseconds(100)
    private static let backOff = BackOff(base: .seconds(10), cap: .seconds(600))

    private let fullRate: Double
    private let ramp: Duration
    /// From when on the next may leave; absent before the first.
    private var freeAt: Duration?
    private var risesFrom: Duration = .zero
    private var pausedUntil: Duration = .zero
    private var pauseReason = ""
    private var refusals = 0
    private var pauses = 0

    /// - Parameters:
    ///   - perMinute: the quota of a project.
    ///   - ramp: from slow to full; zero for full at once.
    init(perMinute: Int, ramp: Duration) { (fullRate, self.ramp) = (max(1, Double(perMinute)) / 60, ramp) }

    /// Lets up to `wanted` messages go.
    mutating func take(_ wanted: Int, at uptime: Duration) -> Departure {
        guard uptime >= pausedUntil else { return .paused(pausedUntil - uptime, reason: pauseReason) }
        guard let free = freeAt, uptime - free < Self.rest else {
            risesFrom = uptime
            return go(wanted, from: uptime, at: uptime)
        }
        return uptime < free ? .wait(free - uptime) : go(wanted, from: max(free, uptime - Self.slack), at: uptime)
    }

    private mutating func go(_ wanted: Int, from moment: Duration, at uptime: Duration) -> Departure {
        let rate = rate(at: uptime)
        let count = min(max(1, Int(rate * Self.portion)), wanted)
        freeAt = moment + .seconds(Double(count) / rate)
        return .go(count)
    }

    /// Messages a second.
    private func rate(at uptime: Duration) -> Double {
        guard ramp > .zero, uptime - risesFrom < ramp else { return fullRate }
        return fullRate * (Self.slowest + (1 - Self.slowest) * ((uptime - risesFrom) / ramp))
    }

    /// FCM took a message.
    mutating func noteAccepted() { (refusals, pauses) = (0, 0) }

    /// FCM asks to wait so long. `jitter` is 0 to 1. Returns how long nothing leaves now, if so.
    mutating func noteRefused(
        _ pause: Duration, reason: String, of scope: FCMAnswer.Scope, jitter: Double, at uptime: Duration
    ) -> Duration? {
        refusals += 1
        guard scope == .project || refusals >= Self.refusalLimit else { return nil }
        risesFrom = max(risesFrom, uptime)
        guard scope != .target || refusals >= Self.deviceRefusalLimit else { return nil }
        // What was under way when the pause began makes it longer at most, and does not count as another one.
        if uptime >= pausedUntil { pauses += 1 }
        pausedUntil = max(pausedUntil, uptime + Self.backOff.delay(failures: pauses, jitter: jitter, minimum: pause))
        pauseReason = reason
        (risesFrom, freeAt) = (pausedUntil, pausedUntil)
        return pausedUntil - uptime
    }
}
