import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors

/// How many bytes the files of containers in a bucket have, and may have: the shares are those of `ContainerSpace`.
///
/// Other nodes write there too. What they did counts from the next look at the bucket on (`BucketCounter`); what this node does counts
/// at once.
final class BucketSpace: Sendable {
    private struct State {
        /// What lies in the bucket, by the number of the hub.
        var counted: [Int64: Int64] = [:]
        /// What uploads of this node are going to add.
        var underway: [Int64: Int64] = [:]
        /// What this node added since a count began that may not have seen it.
        var added: [Int64: Int64] = [:]
        var isCounted = false
        var isCounting = false
        /// Why the last count failed; `nil` while another is under way.
        var fault: (any Error)?
        /// Callers that wait for the first count, in the order of arrival.
        var waiting: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var arrivals: UInt64 = 0

        var total: Int64 { counted.values.reduce(0, +) + underway.values.reduce(0, +) }

        mutating func change(_ bytes: Int64, of hub: Int64) {
            counted[hub] = max(0, counted[hub, default: 0] + bytes)
            if isCounting, bytes > 0 { added[hub, default: 0] += bytes }
        }
    }

    /// How long a caller waits at most for the first count of a bucket.
    static let firstCountTimeout: Duration = .seconds(5)

    private let limit: Int64
    private let state = NIOLockedValueBox(State())

    init(limit: Int64) { self.limit = limit }

    var used: Int64 { state.withLockedValue { $0.total } }

    /// The number of callers that wait for the first count.
    var waiters: Int { state.withLockedValue { $0.waiting.count } }

    /// Whether there are numbers.
    var isCounted: Bool { state.withLockedValue { $0.isCounted } }

    /// Counts what lies in the bucket. While another counts, this only waits until there are numbers.
    func count(_ client: S3Client) async throws {
        let isOurs = state.withLockedValue { state in
            if state.isCounting { return false }
            (state.isCounting, state.added, state.fault) = (true, [:], nil)
            return true
        }
        guard isOurs else { return try await awaitNumbers(client.clock) }
        do {
            var found: [Int64: Int64] = [:]
            try await client.forEachFile(S3FileKeys.files) { file in
                found[file.blob.hub.number, default: 0] += file.bytes
                return true
            }
            end { [found] state in
                state.counted = found.merging(state.added, uniquingKeysWith: +)
                state.isCounted = true
            }
        } catch {
            // A cancelled count says nothing about the bucket: its waiters wait for the next one.
            end { $0.fault = error is CancellationError ? nil : error }
            throw error
        }
    }

    private func end(_ change: (inout State) -> Void) {
        let waiting = state.withLockedValue { state in
            state.isCounting = false
            change(&state)
            guard state.isCounted || state.fault != nil else { return [UInt64: AsyncStream<Void>.Continuation]() }
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.finish() }
    }

    /// Returns at once if the bucket has been counted. Otherwise waits for the first count, so that a large bucket is not taken for an
    /// empty one, up to `firstCountTimeout` or the task's cancellation. Throws why the count failed, or that it has not ended.
    func awaitNumbers(_ clock: any ServiceClock) async throws {
        guard let (number, ended) = try arrive() else { return }
        defer { state.withLockedValue { _ = $0.waiting.removeValue(forKey: number) } }
        let isOver = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in ended {}
                return true
            }
            group.addTask {
                try await clock.sleep(for: Self.firstCountTimeout)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        try Task.checkCancellation()
        let (isCounted, fault) = state.withLockedValue { ($0.isCounted, isOver ? $0.fault : nil) }
        guard !isCounted else { return }
        throw fault
            ?? ServiceError(
                .storageUnavailable, "the files in the bucket are still being counted, which a start begins with", retryAfter: 5)
    }

    /// Where to wait; `nil` when there are numbers.
    private func arrive() throws -> (UInt64, AsyncStream<Void>)? {
        try state.withLockedValue { state in
            if state.isCounted { return nil }
            if let fault = state.fault { throw fault }
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            state.arrivals += 1
            state.waiting[state.arrivals] = continuation
            return (state.arrivals, stream)
        }
    }

    /// Takes room for bytes that are going to be written for a hub. Throws `quota-exceeded` when there is none.
    func take(_ bytes: Int64, for hub: Int64) throws(ServiceError) {
        let fits = state.withLockedValue { state in
            let own = state.counted[hub, default: 0] + state.underway[hub, default: 0] + bytes
            guard ContainerSpace.fits(own, of: state.total + bytes, limit: limit) else { return false }
            state.underway[hub, default: 0] += bytes
            return true
        }
        guard fits else { throw ContainerSpace.full(limit) }
    }

    /// Ends what was taken: the bucket now has so many bytes more.
    func settle(_ taken: Int64, added bytes: Int64, for hub: Int64) {
        state.withLockedValue { state in
            state.underway[hub] = max(0, state.underway[hub, default: 0] - taken)
            state.change(bytes, of: hub)
        }
    }
}

/// Counts what lies in a bucket again and again, beside everything else and for as long as a node runs: no request lists a bucket that
/// may be large.
struct BucketCounter: Sendable {
    /// From the end of one count to the next at most, where counting takes no time.
    static let interval: Duration = .seconds(60)
    /// Of the time at most one part in so many goes into counting.
    private static let share = 10
    /// A count that takes longer is given up: something is wrong with it.
    static let deadline: Duration = .seconds(1800)
    /// After a failure, doubled with each that follows.
    private static let firstPause: Duration = .seconds(1)

    let space: BucketSpace
    let client: S3Client

    /// Counts until the task is cancelled. Calls `failed` after each failed count.
    func run(failed: (any Error) -> Void) async {
        var failures = 0
        while !Task.isCancelled {
            let begun = client.clock.uptime
            do {
                try await count()
                failures = 0
            } catch {
                if Task.isCancelled { return }
                failures += 1
                failed(error)
            }
            let pause = Self.pause(after: client.clock.uptime - begun, failures: failures, jitter: .random(in: 0...1))
            do { try await client.clock.sleep(for: pause) } catch { return }
        }
    }

    private func count() async throws {
        let isDone = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await space.count(client)
                return true
            }
            group.addTask {
                try await client.clock.sleep(for: Self.deadline)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        guard isDone else {
            throw ServiceError(.storageUnavailable, "the files in the bucket could not be counted within half an hour")
        }
    }

    /// How long to wait after a count that took so long, or after so many failures in a row. `jitter` is from 0 to 1: by chance up to a
    /// quarter of the wait goes, and up to half of one after a failure, so that nodes do not come back together.
    static func pause(after length: Duration, failures: Int, jitter: Double) -> Duration {
        guard failures > 0 else { return max(interval, length * (share - 1)) * (1 - jitter / 4) }
        return min(firstPause * (1 << min(failures - 1, 16)), interval) * (1 - jitter / 2)
    }
}
