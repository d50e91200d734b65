import Logging
import PushHub
import RichPushModel

/// Removes the telemetry of sends that ended long ago, and devices that have expired, in small steps, so that the database
/// does not grow for ever.
struct TelemetryUpkeep: Sendable {
    /// How long the numbers of a send can be asked for after its end, and how long a repeat of it is recognised.
    static let retention: Duration = .seconds(30 * 86_400)
    private static let interval: Duration = .seconds(3600)
    private static let batch = 500

    let store: any TelemetryStore
    let devices: any DeviceStore
    let clock: any ServiceClock
    let logger: Logger

    /// Works until the task is cancelled. Storage that fails is logged and tried again at the next turn.
    func run() async {
        while !Task.isCancelled {
            do {
                while try await store.sweep(endedBefore: clock.now - Self.retention, limit: Self.batch) > 0 {}
                while try await devices.sweep(expiredBefore: clock.now, limit: Self.batch) > 0 {}
            } catch {
                logger.warning(
                    "Old telemetry or expired devices could not be removed", metadata: ["error_type": "\(type(of: error))"])
            }
            do { try await clock.sleep(for: Self.interval) } catch { return }
        }
    }
}
