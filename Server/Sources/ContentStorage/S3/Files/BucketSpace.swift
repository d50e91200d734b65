import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors

/// How many bytes the files of containers in a bucket have, and may have: the shares are those of `ContainerSpace`.
///
/// Other nodes write there too. What they did counts from the next look at the bucket on, at most a minute later; what this node does
/// counts at once.
final class BucketSpace: Sendable {
    private struct State {
        /// What lies in the bucket, by the number of the hub.
        var counted: [Int64: Int64] = [:]
        /// What uploads of this node are going to add.
        var underway: [Int64: Int64] = [:]
        /// What this node added since a count began that may not have seen it.
        var added: [Int64: Int64] = [:]
        var countedAt: Duration?
        var isCounting = false
        /// Who waits for the first count.
        var waiting: [CheckedContinuation<Void, any Error>] = []

        var total: Int64 { counted.values.reduce(0, +) + underway.values.reduce(0, +) }

        mutating func change(_ bytes: Int64, of hub: Int64) {
            counted[hub] = max(0, counted[hub, default: 0] + bytes)
            if isCounting, bytes > 0 { added[hub, default: 0] += bytes }
        }
    }

    /// How long a count is good for.
    static let trust: Duration = .seconds(60)

    private let limit: Int64
    private let state = NIOLockedValueBox(State())

    init(limit: Int64) { self.limit = limit }

    var used: Int64 { state.withLockedValue { $0.total } }

    /// Counts what lies in the bucket if that was long ago. Who comes while another counts goes on with the numbers that there are; until
    /// there are any, everybody waits for one first count, so that nobody takes a large bucket for an empty one.
    func refresh(_ client: S3Client) async throws {
        while true {
            switch state.withLockedValue({ Self.step(&$0, at: client.clock.uptime) }) {
            case .goOn: return
            case .count: return try await count(client)
            case .wait: try await awaitCount()
            }
        }
    }

    private enum Step {
        case goOn
        case count
        case wait
    }

    private static func step(_ state: inout State, at uptime: Duration) -> Step {
        if let last = state.countedAt, state.isCounting || uptime - last < trust { return .goOn }
        if state.isCounting { return .wait }
        state.isCounting = true
        state.added = [:]
        return .count
    }

    private func awaitCount() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isOver = state.withLockedValue { state in
                if state.isCounting { state.waiting.append(continuation) }
                return !state.isCounting
            }
            if isOver { continuation.resume() }
        }
    }

    /// A count that its caller gave up is begun anew by who waits for it.
    private func end(_ fault: (any Error)?) {
        let waiting = state.withLockedValue { state in
            state.isCounting = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting {
            if let fault, !(fault is CancellationError) { continuation.resume(throwing: fault) } else { continuation.resume() }
        }
    }

    private func count(_ client: S3Client) async throws {
        do {
            var found: [Int64: Int64] = [:]
            try await client.forEachFile(S3FileKeys.files) { file in
                found[file.blob.hub.number, default: 0] += file.bytes
                return true
            }
            state.withLockedValue { [found] state in
                state.counted = found.merging(state.added, uniquingKeysWith: +)
                state.countedAt = client.clock.uptime
            }
            end(nil)
        } catch {
            end(error)
            throw error
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
