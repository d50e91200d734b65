import Logging
import Metrics
import PushHub
import RichPushModel
import SQLStorage
import ServerDelivery
import ServerObservability
import ServerSettings
import ServerStorage

/// Reads the numbers that are not events, every few seconds, and writes them as metrics.
struct MetricsUpkeep: Sendable {
    static let interval: Duration = .seconds(5)

    let telemetry: any TelemetryStore
    /// Absent where there is no database file.
    var databaseLog: DatabaseLogWatch?
    let clients: @Sendable () -> APNsClientLedger.Numbers?
    let tokenAge: @Sendable () -> Duration?
    var databaseLoad: @Sendable () -> DatabaseLoad? = { nil }
    var freeBytes: @Sendable () -> Int64? = { nil }
    var process: @Sendable () -> ProcessNumbers? = { ProcessNumbers.current() }
    let factory: any MetricsFactory
    let clock: any ServiceClock
    let logger: Logger

    /// Works until the task is cancelled.
    func run() async {
        var gauges = NodeGauges(factory: factory)
        gauges.write(version: ClarionVersion.current, fileLimit: FileDescriptors.limit)
        let trouble = TroubleLog("The backlog could not be counted", logger: logger)
        while !Task.isCancelled {
            await collect(into: &gauges, trouble)
            do { try await clock.sleep(for: Self.interval) } catch { return }
        }
    }

    func collect(into gauges: inout NodeGauges, _ trouble: TroubleLog) async {
        if let numbers = clients() { gauges.write(numbers) }
        if let age = tokenAge() { gauges.write(tokenAge: age) }
        if let load = databaseLoad() { gauges.write(load) }
        if let bytes = freeBytes() { gauges.write(freeBytes: bytes) }
        if let numbers = process() { gauges.write(numbers) }
        if let databaseLog { gauges.write(databaseLog: databaseLog.look()) }
        do {
            let now = clock.now
            gauges.write(try await telemetry.backlog(at: now), at: now)
            trouble.succeeded()
        } catch is CancellationError {} catch {
            trouble.failed(error)
        }
    }
}
