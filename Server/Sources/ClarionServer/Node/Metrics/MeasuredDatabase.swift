import HTTPService
import Metrics
import RichPushModel
import SQLStorage

/// A database whose operations are timed and whose faults are counted.
final class MeasuredDatabase: SQLDatabase {
    /// The values of the label `operation`.
    private enum Operation: String {
        case read
        /// Small writes share a commit, so each includes the wait for the others.
        case write
        /// A change of the schema.
        case schema
    }

    fileprivate let base: any SQLDatabase
    private let clock: any ServiceClock
    private let factory: any MetricsFactory
    private let reads: Timer
    private let writes: Timer
    private let schemaChanges: Timer

    /// Measures `base` with the monotonic time of `clock`.
    init(_ base: any SQLDatabase, clock: any ServiceClock, factory: any MetricsFactory) {
        self.base = base
        self.clock = clock
        self.factory = factory
        func timer(_ operation: Operation) -> Timer {
            Timer(
                label: MetricName.databaseOperationDuration.rawValue,
                dimensions: [(MetricLabel.operation.rawValue, operation.rawValue)], factory: factory)
        }
        reads = timer(.read)
        writes = timer(.write)
        schemaChanges = timer(.schema)
        // The series are there from the start, so that the first fault is seen as a rise.
        for reason in ["unavailable", "outcome_unknown", "damaged"] { faults(reason).increment(by: 0) }
    }

    var dialect: SQLDialect { base.dialect }
    var lastWriteFault: String? { base.lastWriteFault }
    var sinceLastKeptWrite: Duration? { base.sinceLastKeptWrite }
    var load: DatabaseLoad { base.load }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await measured(reads) { try await base.read(body) }
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await measured(writes) { try await base.write(body) }
    }

    func writeAlone<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await measured(schemaChanges) { try await base.writeAlone(body) }
    }

    func tableNames() async throws -> [String] { try await base.tableNames() }

    func close() throws { try base.close() }

    private func measured<Result: Sendable>(_ timer: Timer, _ work: () async throws -> Result) async throws -> Result {
        let start = clock.uptime
        defer { timer.record(duration: clock.uptime - start) }
        do { return try await work() } catch let fault as SQLFault {
            if let reason = fault.metricLabel { faults(reason).increment() }
            throw fault
        }
    }

    private func faults(_ reason: String) -> Counter {
        Counter(
            label: MetricName.databaseFaults.rawValue, dimensions: [(MetricLabel.reason.rawValue, reason)], factory: factory)
    }
}

extension SQLDatabase {
    /// The database of the engine itself, whether it is measured or not.
    var driver: any SQLDatabase { (self as? MeasuredDatabase)?.base ?? self }
}

extension SQLFault {
    /// The fault as a label; absent for what says nothing of the database's state, for example a duplicate.
    fileprivate var metricLabel: String? {
        switch self {
        case .unavailable: "unavailable"
        case .outcomeUnknown: "outcome_unknown"
        case .damaged: "damaged"
        case .misconfigured: "misconfigured"
        case .refused, .unexpectedColumn: "defect"
        case .duplicate, .newerSchema, .olderSchema, .unreleasedSchema, .unstorable, .lockedByAnotherProcess: nil
        }
    }
}
