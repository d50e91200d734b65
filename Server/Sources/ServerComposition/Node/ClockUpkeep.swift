import HTTPService
import Logging
import Metrics
import PushHub
import RichPushModel

/// Looks every second whether the wall clock was set. A step is logged and counted, and waits that a step back made too long are
/// shortened.
struct ClockUpkeep: Sendable {
    static let interval: Duration = .seconds(1)
    /// Steps are logged at most this often, and those in between together once it is over; each is counted.
    private static let logPause: Duration = .seconds(60)

    private let clock: any ServiceClock
    private let steps: Counter
    private let logger: Logger
    /// Shortens the waits that lie too far ahead of the moment; returns how many.
    private let shortenWaits: @Sendable (Timestamp) async throws -> Int

    init(
        clock: any ServiceClock, factory: any MetricsFactory, logger: Logger,
        shortenWaits: @escaping @Sendable (Timestamp) async throws -> Int
    ) {
        self.clock = clock
        self.logger = logger
        self.shortenWaits = shortenWaits
        // The series is there from the start, so that the first step is seen as a rise.
        steps = Counter(label: MetricName.clockSteps.rawValue, factory: factory)
    }

    /// What was seen so far.
    struct Seen {
        var last: Duration?
        var loggedAt: Duration?
        /// Steps since then that have no line yet, and how far they set the clock together.
        var unlogged: (count: Int, distance: Duration) = (0, .zero)
        /// True at the start: the clock may have been set back while no process ran.
        var owesRepair = true
    }

    /// Works until the task is cancelled.
    func run() async {
        let trouble = TroubleLog("Waits could not be shortened after the wall clock was set back", logger: logger)
        var seen = Seen()
        while !Task.isCancelled {
            await look(&seen, trouble)
            do { try await clock.sleep(for: Self.interval) } catch { return }
        }
    }

    func look(_ seen: inout Seen, _ trouble: TroubleLog) async {
        let now = clock.now
        logLate(&seen)
        for step in clock.steps where seen.last.map({ step.uptime > $0 }) ?? true { note(step, &seen) }
        guard seen.owesRepair else { return }
        do {
            let count = try await shortenWaits(now)
            if count > 0 { logger.notice("Waits lay too far ahead and are shortened", metadata: ["count": "\(count)"]) }
            seen.owesRepair = false
            trouble.succeeded()
        } catch is CancellationError {} catch {
            trouble.failed(error)
        }
    }

    private func note(_ step: ClockStep, _ seen: inout Seen) {
        seen.last = step.uptime
        guard step.distance != .zero else {
            return logger.warning(
                "The last sweep lies in the future or over a day back; nothing is removed by age for an hour, in case the clock is wrong"
            )
        }
        steps.increment()
        let isBack = step.distance < .zero
        seen.owesRepair = seen.owesRepair || isBack
        guard seen.loggedAt.map({ step.uptime - $0 >= Self.logPause }) ?? true else {
            seen.unlogged.count += 1
            return seen.unlogged.distance += step.distance
        }
        seen.loggedAt = step.uptime
        logger.warning(
            isBack
                ? "The wall clock was set back; waits are shortened, and nothing is removed by age for an hour"
                : "The wall clock was set forward; retries last that much longer, and nothing is removed by age for an hour",
            metadata: ["step_ms": "\(step.distance.wholeMilliseconds)"])
    }

    /// Logs the steps that followed a logged one too soon, as one line.
    private func logLate(_ seen: inout Seen) {
        guard seen.unlogged.count > 0, let last = seen.loggedAt, clock.uptime - last >= Self.logPause else { return }
        logger.warning(
            "The wall clock was set again within a minute of a step that was logged; step_ms is the sum of these steps",
            metadata: ["count": "\(seen.unlogged.count)", "step_ms": "\(seen.unlogged.distance.wholeMilliseconds)"])
        seen.unlogged = (0, .zero)
    }
}
