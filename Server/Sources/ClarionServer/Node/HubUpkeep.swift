import Logging
import PushHub
import RichPushModel

/// Deletes what removed hubs hold, in small steps.
struct HubUpkeep: Sendable {
    private static let interval: Duration = .seconds(30)

    let hubs: HubRegistry
    let clock: any ServiceClock
    let logger: Logger

    /// Works until the task is cancelled. Storage that fails is logged and tried again at the next turn.
    func run() async {
        while !Task.isCancelled {
            do {
                while try await hubs.clearStep(), !Task.isCancelled {}
            } catch {
                logger.warning("What a removed hub held could not be deleted", metadata: ["error_type": "\(type(of: error))"])
            }
            do { try await clock.sleep(for: Self.interval) } catch { return }
        }
    }
}
