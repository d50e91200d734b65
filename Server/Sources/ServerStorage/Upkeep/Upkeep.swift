import AppBackend
import Logging
import PushHub
import RichPushModel

/// Work in small steps that a node does from time to time. Storage that fails is logged and tried again at the next turn.
package struct Upkeep: Sendable {
    /// How the metrics call it.
    let name: SweepMetrics.Sweep
    /// From the end of one turn to the next.
    let interval: Duration
    /// The log's sentence for a turn that failed.
    let failure: Logger.Message
    let clock: any ServiceClock
    let logger: Logger
    /// One turn; it goes on until nothing is left to do. Returns how many rows or files it removed, where that is known.
    let turn: @Sendable () async throws -> Int?

    /// Works until the task is cancelled. Each turn that succeeds is counted in `metrics`.
    package func run(metrics: SweepMetrics) async {
        let trouble = TroubleLog(failure, logger: logger)
        while !Task.isCancelled {
            if clock.wasSet(within: BackendUpkeep.pauseAfterStep) {
                do { try await clock.sleep(for: min(interval, .seconds(60))) } catch { return }
                continue
            }
            do {
                let removed = try await turn()
                metrics.succeeded(name, removed: removed, at: clock.now)
                trouble.succeeded()
            } catch is CancellationError {
                return
            } catch {
                trouble.failed(error)
            }
            do { try await clock.sleep(for: interval) } catch { return }
        }
    }
}
