import AppBackend
import HTTPService
import Logging
import Metrics
import PushHub
import RichPushModel

/// Work in small steps that a node does from time to time. Storage that fails is logged and tried again at the next turn.
package struct Upkeep: Sendable {
    /// How the metrics call it.
    package let name: SweepMetrics.Sweep
    /// From the end of one turn to the next.
    let interval: Duration
    /// The log's sentence for a turn that failed.
    let failure: Logger.Message
    let clock: any ServiceClock
    let logger: Logger
    /// One turn; it runs until nothing is left to do. Returns how many rows or files it removed, where that is known.
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

/// The cleanup of a node, so that the database and the folders do not grow without limit.
extension Upkeep {
    /// How long the counts of a send can be read after its end, and how long its idempotency key is recognised.
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
            try await total { try await store.sweep(endedBefore: clock.now - telemetryRetention, at: clock.now, limit: batch) }
        }
    }

    /// Removes devices that have expired, and brings time zones up to date.
    package static func devices(_ store: any DeviceStore, clock: any ServiceClock, logger: Logger) -> Upkeep {
        Upkeep(
            name: .devices, interval: .seconds(3600), failure: "Expired devices could not be removed", clock: clock,
            logger: logger
        ) {
            _ = try await total { try await store.settleZones(at: clock.now, limit: batch) }
            return try await total { try await store.sweep(expiredBefore: clock.now, limit: batch) }
        }
    }

    /// Removes jobs that ended long ago, and files that were not written for as long.
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

/// Counts what the upkeep of a node removes, and when each sweep succeeded last.
package struct SweepMetrics: Sendable {
    /// The sweeps of a node: the values of the label `sweep`.
    package enum Sweep: String, CaseIterable, Sendable {
        /// Notifications, contents, bindings and keys of the app backend.
        case backend
        case devices
        /// What removed hubs hold.
        case hubs
        case jobs
        case telemetry
        /// Uploads to a bucket that were cut off.
        case uploads
    }

    let factory: any MetricsFactory

    package init(factory: any MetricsFactory) { self.factory = factory }

    /// Notes the start of a node with these sweeps: an alert counts from then on until each has succeeded once.
    package func began(_ sweeps: [Sweep], at now: Timestamp) {
        for sweep in sweeps { lastSuccess(of: sweep).record(Double(now.milliseconds) / 1000) }
    }

    /// Notes a sweep that succeeded.
    ///
    /// - Parameter removed: how many rows or files it removed; absent where a sweep does not count them.
    package func succeeded(_ sweep: Sweep, removed: Int?, at now: Timestamp) {
        lastSuccess(of: sweep).record(Double(now.milliseconds) / 1000)
        guard let removed else { return }
        Counter(label: MetricName.sweepRemoved.rawValue, dimensions: labels(sweep), factory: factory).increment(by: removed)
    }

    private func lastSuccess(of sweep: Sweep) -> Gauge {
        Gauge(label: MetricName.sweepLastSuccess.rawValue, dimensions: labels(sweep), factory: factory)
    }

    private func labels(_ sweep: Sweep) -> [(String, String)] { [(MetricLabel.sweep.rawValue, sweep.rawValue)] }
}
