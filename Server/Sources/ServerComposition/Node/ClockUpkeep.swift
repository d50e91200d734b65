import HTTPService
import Logging
import Metrics
import PushHub
import RichPushModel

/// Looks every second whether the wall clock was set. A step is logged and counted, and waits that a step back made too long are
/// shortened.
struct ClockUpkeep: Sendable {
    static let interval: Duration = .seconds(1)
    /// Steps are logged at most this often; each is counted.
    private static let logPause: Duration = .seconds(60)

    let clock: any ServiceClock
    let factory: any MetricsFactory
    let logger: Logger
    /// Shortens the waits that lie too far ahead of the moment; returns how many.
    let shortenWaits: @Sendable (Timestamp) async throws -> Int

    /// What was seen so far.
    struct Seen {
        var last: Duration?
        var loggedAt: Duration?
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
        Counter(label: MetricName.clockSteps.rawValue, factory: factory).increment()
        let isBack = step.distance < .zero
        seen.owesRepair = seen.owesRepair || isBack
        guard seen.loggedAt.map({ step.uptime - $0 >= Self.logPause }) ?? true else { return }
        seen.loggedAt = step.uptime
        logger.warning(
            isBack
                ? "The wall clock was set back; waits are shortened, and nothing is removed by age for an hour"
                : "The wall clock was set forward; retries last that much longer, and nothing is removed by age for an hour",
            metadata: ["step_ms": "\(step.distance.wholeMilliseconds)"])
    }
}
