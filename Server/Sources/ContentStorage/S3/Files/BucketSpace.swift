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

    /// Counts what lies in the bucket if that was long ago. Who comes while another counts goes on with the numbers that there are.
    func refresh(_ client: S3Client) async throws {
        let isDue = state.withLockedValue { state in
            if let last = state.countedAt, state.isCounting || client.clock.uptime - last < Self.trust { return false }
            state.isCounting = true
            state.added = [:]
            return true
        }
        guard isDue else { return }
        do {
            var found: [Int64: Int64] = [:]
            try await client.forEachFile(S3FileKeys.files) { file in
                found[file.blob.hub.number, default: 0] += file.bytes
                return true
            }
            state.withLockedValue { [found] state in
                state.counted = found.merging(state.added, uniquingKeysWith: +)
                state.countedAt = client.clock.uptime
                state.isCounting = false
            }
        } catch {
            state.withLockedValue { $0.isCounting = false }
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
