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
        /// Who waits for the first count, by the order of coming.
        var waiting: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var arrivals: UInt64 = 0

        var total: Int64 { counted.values.reduce(0, +) + underway.values.reduce(0, +) }

        mutating func change(_ bytes: Int64, of hub: Int64) {
            counted[hub] = max(0, counted[hub, default: 0] + bytes)
            if isCounting, bytes > 0 { added[hub, default: 0] += bytes }
        }
    }

    /// How long a caller waits at most for the first count of a bucket.
    static let patience: Duration = .seconds(5)

    private let limit: Int64
    private let state = NIOLockedValueBox(State())

    init(limit: Int64) { self.limit = limit }

    var used: Int64 { state.withLockedValue { $0.total } }

    /// Who waits for the first count now.
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
            // What was given up says nothing of the bucket: whoever waits goes on waiting for the next.
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

    /// Returns at once when the bucket was counted before, so that nobody takes a large bucket for an empty one. Otherwise waits for the
    /// first count, but not for long, and not after the caller's task was cancelled; throws why it failed, or that it goes on.
    func awaitNumbers(_ clock: any ServiceClock) async throws {
        guard let (number, ended) = try arrive() else { return }
        defer { state.withLockedValue { _ = $0.waiting.removeValue(forKey: number) } }
        let isOver = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in ended {}
                return true
            }
            group.addTask {
                try await clock.sleep(for: Self.patience)
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
