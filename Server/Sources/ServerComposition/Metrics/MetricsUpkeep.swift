import APNsHTTP2
import APNsProtocol
import HTTPService
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
    var fcm: @Sendable () -> APNsClientMetrics? = { nil }
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
        if let numbers = fcm() { gauges.write(fcm: numbers) }
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

/// Exports values that other parts maintain. Used by one task.
struct NodeGauges {
    private let factory: any MetricsFactory
    /// What the counters were raised to.
    private var written: [MetricName: [String: Int]] = [:]
    private var cpuSeconds = 0.0

    init(factory: any MetricsFactory) {
        self.factory = factory
        // Alerts ask for a rise of these. A node whose hubs alone have credentials makes its first client late.
        raise(.apnsConnectFailures, to: 0)
        raise(.apnsRequests, to: 0)
    }

    func write(_ backlog: DispatchBacklog, at now: Timestamp) {
        set(.dispatchLag, nil, max(0, backlog.oldestDueAt.map { (now - $0) / .seconds(1) } ?? 0))
        let stages = [
            ("due_single", backlog.due[.single] ?? 0), ("due_small", backlog.due[.small] ?? 0),
            ("due_large", backlog.due[.large] ?? 0),
            ("waiting", backlog.waiting), ("leased", backlog.leased),
        ]
        for (stage, count) in stages { set(.slices, (.stage, stage), Double(count)) }
    }

    mutating func write(_ numbers: APNsClientLedger.Numbers) {
        let client = numbers.sum
        set(.apnsClients, nil, Double(numbers.clients))
        set(.apnsConnections, (.phase, "ready"), Double(client.connections))
        set(.apnsConnections, (.phase, "connecting"), Double(client.connecting))
        set(.apnsConnections, (.phase, "draining"), Double(client.draining))
        set(.apnsStreamLimit, nil, Double(client.streamLimit))
        set(.apnsStreams, nil, Double(client.inFlight))
        set(.apnsWindow, nil, Double(client.window))
        if let roundTrip = client.roundTrip { set(.apnsRoundTrip, nil, roundTrip / .seconds(1)) }
        set(.apnsQueued, nil, Double(client.queued))
        raise(.apnsConnected, to: client.connected)
        raise(.apnsConnectFailures, to: client.connectFailures)
        raise(.apnsResets, to: client.resets)
        raise(.apnsRequests, to: client.requests)
        raise(.apnsResends, to: client.resends)
        // The series is there from the start, so that the first GOAWAY is seen as a rise.
        let reasons = [APNsReason(rawValue: ""): 0].merging(client.goAwaysByReason) { $1 }
        for (reason, count) in reasons {
            raise(.apnsGoAways, reason: PushService.apns.word(for: reason.rawValue), to: count)
        }
    }

    /// - Parameter client: that of FCM, which has a credential with each request and so one client for all.
    mutating func write(fcm client: APNsClientMetrics) {
        set(.fcmConnections, (.phase, "ready"), Double(client.connections))
        set(.fcmConnections, (.phase, "connecting"), Double(client.connecting))
        set(.fcmConnections, (.phase, "draining"), Double(client.draining))
        set(.fcmStreamLimit, nil, Double(client.streamLimit))
        set(.fcmStreams, nil, Double(client.inFlight))
        set(.fcmQueued, nil, Double(client.queued))
        raise(.fcmConnected, to: client.connected)
        raise(.fcmConnectFailures, to: client.connectFailures)
        raise(.fcmGoAways, to: client.goAways)
        raise(.fcmResets, to: client.resets)
        raise(.fcmRequests, to: client.requests)
        raise(.fcmResends, to: client.resends)
    }

    mutating func write(_ load: DatabaseLoad) {
        for (pool, numbers) in [("read", load.reads), ("write", load.writes)] {
            set(.databaseConnections, (.pool, pool), Double(numbers.size))
            set(.databaseConnectionsInUse, (.pool, pool), Double(numbers.inUse))
            set(.databaseWaiting, (.pool, pool), Double(numbers.waiting))
        }
        raise(.databaseCommits, to: load.commits)
    }

    mutating func write(_ process: ProcessNumbers) {
        FloatingPointCounter(label: MetricName.processCPU.rawValue, factory: factory)
            .increment(by: max(0, process.cpuSeconds - cpuSeconds))
        cpuSeconds = process.cpuSeconds
        set(.processMemory, nil, Double(process.residentBytes))
        set(.processStart, nil, process.startedAt)
        set(.processFiles, nil, Double(process.openFiles))
    }

    /// - Parameter freeBytes: what this user may still write to the disk of the data directory.
    func write(freeBytes: Int64) { set(.diskFree, nil, Double(freeBytes)) }

    /// - Parameter fileLimit: how many files and sockets the process may have open.
    func write(version: String, fileLimit: Int) {
        set(.buildInfo, (.version, version), 1)
        set(.processFileLimit, nil, Double(fileLimit))
    }

    func write(tokenAge: Duration) { set(.apnsTokenAge, nil, Double(tokenAge.components.seconds)) }

    /// The size of the write-ahead log of a database file, in bytes.
    func write(databaseLog bytes: Int64) { set(.databaseLogBytes, nil, Double(bytes)) }

    private func set(_ name: MetricName, _ label: (MetricLabel, String)?, _ value: Double) {
        Gauge(label: name.rawValue, dimensions: label.map { [($0.0.rawValue, $0.1)] } ?? [], factory: factory).record(value)
    }

    private mutating func raise(_ name: MetricName, reason: String? = nil, to total: Int) {
        let known = written[name]?[reason ?? ""]
        guard known != total else { return }
        written[name, default: [:]][reason ?? ""] = total
        let labels = reason.map { [(MetricLabel.reason.rawValue, $0)] } ?? []
        Counter(label: name.rawValue, dimensions: labels, factory: factory).increment(by: max(total - (known ?? 0), 0))
    }
}
