import Logging
import Metrics
import PushHub
import RichPushModel

/// Reads the numbers that are not events, every few seconds, and writes them as metrics.
struct MetricsUpkeep: Sendable {
    static let interval: Duration = .seconds(5)

    let telemetry: any TelemetryStore
    let clients: @Sendable () -> APNsClientLedger.Numbers?
    let tokenAge: @Sendable () -> Duration?
    let factory: any MetricsFactory
    let clock: any ServiceClock
    let logger: Logger

    /// Works until the task is cancelled.
    func run() async {
        var gauges = NodeGauges(factory: factory)
        let trouble = TroubleLog("The backlog could not be counted", logger: logger)
        while !Task.isCancelled {
            await collect(into: &gauges, trouble)
            do { try await clock.sleep(for: Self.interval) } catch { return }
        }
    }

    func collect(into gauges: inout NodeGauges, _ trouble: TroubleLog) async {
        if let numbers = clients() { gauges.write(numbers) }
        if let age = tokenAge() { gauges.write(tokenAge: age) }
        do {
            gauges.write(try await telemetry.backlog(at: clock.now))
            trouble.succeeded()
        } catch is CancellationError {} catch {
            trouble.failed(error)
        }
    }
}
