import AppBackend
import HTTPService
import Metrics
import RichPushModel
import ServiceErrors

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
