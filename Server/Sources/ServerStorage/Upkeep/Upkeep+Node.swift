import Logging
import PushHub
import RichPushModel

/// What a node keeps in order, so that the database and the folders do not grow for ever.
extension Upkeep {
    /// How long the numbers of a send can be asked for after its end, and how long a repeat of it is recognised.
    static let telemetryRetention: Duration = .seconds(30 * 86_400)
    /// How long a finished job and a file can be asked for. Links to files are valid as long.
    static let jobRetention: Duration = .seconds(7 * 86_400)
    private static let batch = 500

    /// Removes the telemetry of sends that ended long ago.
    package static func telemetry(_ store: any TelemetryStore, clock: any ServiceClock, logger: Logger) -> Upkeep {
        Upkeep(
            name: .telemetry, interval: .seconds(3600), failure: "Old telemetry could not be removed", clock: clock,
            logger: logger
        ) {
            try await total { try await store.sweep(endedBefore: clock.now - telemetryRetention, limit: batch) }
        }
    }

    /// Removes devices that have expired.
    package static func devices(_ store: any DeviceStore, clock: any ServiceClock, logger: Logger) -> Upkeep {
        Upkeep(
            name: .devices, interval: .seconds(3600), failure: "Expired devices could not be removed", clock: clock,
            logger: logger
        ) {
            try await total { try await store.sweep(expiredBefore: clock.now, limit: batch) }
        }
    }

    /// Removes jobs that ended long ago, and files that nobody wrote for as long.
    package static func jobs(
        _ store: any JobStore, _ files: any ContainerStore, clock: any ServiceClock, logger: Logger
    ) -> Upkeep {
        Upkeep(
            name: .jobs, interval: .seconds(3600), failure: "Old jobs and files could not be removed", clock: clock,
            logger: logger
        ) {
            let moment = clock.now - jobRetention
            let jobs = try await total { try await store.sweep(endedBefore: moment, limit: batch) }
            return try await jobs + files.sweep(writtenBefore: moment)
        }
    }

    /// Deletes what removed hubs hold.
    package static func hubs(_ registry: HubRegistry, clock: any ServiceClock, logger: Logger) -> Upkeep {
        Upkeep(
            name: .hubs, interval: .seconds(30), failure: "What a removed hub held could not be deleted", clock: clock,
            logger: logger
        ) {
            while try await registry.clearStep(), !Task.isCancelled {}
            return nil
        }
    }

    /// Repeats a step until it removes nothing; returns how much all steps removed.
    private static func total(_ step: () async throws -> Int) async throws -> Int {
        var total = 0
        while case let removed = try await step(), removed > 0 { total += removed }
        return total
    }
}
