import RichPushModel
import ServiceErrors

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

    /// Counts until the task is cancelled. `failed` is told of each count that came to nothing.
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
