import AppBackend
import HTTPService
import Metrics
import RichPushModel
import SQLStorage
import ServiceErrors

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
        for reason in ["unavailable", "outcome_unknown", "damaged", "misconfigured", "defect"] { faults(reason).increment(by: 0) }
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
    package var driver: any SQLDatabase { (self as? MeasuredDatabase)?.base ?? self }
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

/// A content store whose operations are timed and whose faults are counted.
package struct MeasuredContentStore: ContentStore {
    private let base: any ContentStore
    private let times: ContentTimes

    /// Measures `base` with the monotonic time of `clock`.
    package init(_ base: any ContentStore, clock: any ServiceClock, factory: any MetricsFactory) {
        self.base = base
        times = ContentTimes(clock: clock, factory: factory)
    }

    package func beginUpload(limit: Int64) async throws -> any ContentUpload {
        MeasuredUpload(base: try await times.measured(.begin) { try await base.beginUpload(limit: limit) }, times: times)
    }

    package func open(_ digest: ContentDigest) async throws -> (any ContentReader)? {
        try await times.measured(.open) { try await base.open(digest) }.map { MeasuredReader(base: $0, times: times) }
    }

    package func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await times.measured(.remove) { try await base.remove(digest, storedBefore: moment) }
    }

    package func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await times.measured(.list) { try await base.digests(after: digest, limit: limit) }
    }

    package var handsOutLinks: Bool { base.handsOutLinks }

    package func link(to digest: ContentDigest, mediaType: String, disposition: String, lifetime: Duration) -> String? {
        base.link(to: digest, mediaType: mediaType, disposition: disposition, lifetime: lifetime)
    }
}

private struct MeasuredUpload: ContentUpload {
    let base: any ContentUpload
    let times: ContentTimes

    func write(_ chunk: [UInt8]) async throws { try await times.measured(.write) { try await base.write(chunk) } }

    func finish() async throws -> StoredBytes { try await times.measured(.finish) { try await base.finish() } }

    func abort() async { await base.abort() }
}

private struct MeasuredReader: ContentReader {
    let base: any ContentReader
    let times: ContentTimes

    var size: Int64 { base.size }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await times.measured(.read) { try await base.read(at: offset, count: count) }
    }
}

/// The timers and counters of a content store.
private struct ContentTimes: Sendable {
    /// The values of the label `operation`.
    enum Operation: String, CaseIterable {
        case begin, write, finish, open, read, remove, list
    }

    private let clock: any ServiceClock
    private let timers: [Operation: Timer]
    private let faults: [Operation: Counter]

    init(clock: any ServiceClock, factory: any MetricsFactory) {
        self.clock = clock
        func labels(_ operation: Operation) -> [(String, String)] { [(MetricLabel.operation.rawValue, operation.rawValue)] }
        timers = Dictionary(
            uniqueKeysWithValues: Operation.allCases.map {
                ($0, Timer(label: MetricName.contentOperationDuration.rawValue, dimensions: labels($0), factory: factory))
            })
        faults = Dictionary(
            uniqueKeysWithValues: Operation.allCases.map {
                ($0, Counter(label: MetricName.contentFaults.rawValue, dimensions: labels($0), factory: factory))
            })
    }

    func measured<Result: Sendable>(_ operation: Operation, _ work: () async throws -> Result) async throws -> Result {
        let start = clock.uptime
        defer { timers[operation]?.record(duration: clock.uptime - start) }
        do { return try await work() } catch {
            if Self.isFault(error) { faults[operation]?.increment() }
            throw error
        }
    }

    /// Whether the store failed; a content that is too large, for example, is the caller's mistake.
    private static func isFault(_ error: any Error) -> Bool {
        if error is CancellationError { return false }
        guard let error = error as? ServiceError else { return true }
        return [.storageUnavailable, .outcomeUnknown, .internal].contains(error.code)
    }
}
