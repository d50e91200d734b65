import Logging
import PushHub
import RichPushModel

/// Work in small steps that a node does from time to time. Storage that fails is logged and tried again at the next turn.
struct Upkeep: Sendable {
    /// From the end of one turn to the next.
    let interval: Duration
    /// The log's sentence for a turn that failed.
    let failure: Logger.Message
    let clock: any ServiceClock
    let logger: Logger
    /// One turn; it goes on until nothing is left to do.
    let turn: @Sendable () async throws -> Void

    /// Works until the task is cancelled.
    func run() async {
        let trouble = TroubleLog(failure, logger: logger)
        while !Task.isCancelled {
            do {
                try await turn()
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
