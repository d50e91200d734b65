import Logging
import PushHub
import RichPushModel

/// Removes jobs that ended long ago, and files that nobody wrote for as long.
struct JobUpkeep: Sendable {
    /// How long a finished job and a file can be asked for. Links to files are valid as long.
    static let retention: Duration = .seconds(7 * 86_400)
    private static let interval: Duration = .seconds(3600)
    private static let batch = 500

    let jobs: any JobStore
    let files: any ContainerStore
    let clock: any ServiceClock
    let logger: Logger

    /// Works until the task is cancelled. Storage that fails is logged and tried again at the next turn.
    func run() async {
        while !Task.isCancelled {
            let moment = clock.now - Self.retention
            do {
                while try await jobs.sweep(endedBefore: moment, limit: Self.batch) > 0 {}
                _ = try await files.sweep(writtenBefore: moment)
            } catch {
                logger.warning("Old jobs and files could not be removed", metadata: ["error_type": "\(type(of: error))"])
            }
            do { try await clock.sleep(for: Self.interval) } catch { return }
        }
    }
}
