import RichPushModel
import Synchronization

/// A look at something outside that costs a little and that many may ask for: it goes on once at a time, however many ask, and what
/// it found counts for a while.
///
/// Each caller waits as long as it wants. The look goes on without it, since an engine that is stuck does not listen to the end of a
/// task; those who come meanwhile wait for the same one.
final class SharedLook: Sendable {
    private typealias Finding = Result<Void, any Error>

    private struct State {
        var last: (finding: Finding, endedAt: Duration)?
        var isLooking = false
        var waiting: [AsyncStream<Finding>.Continuation] = []
    }

    private enum Turn {
        case known(Finding)
        case waits(begins: Bool)
    }

    private let goodFor: Duration
    private let badFor: Duration
    private let clock: any ServiceClock
    private let isDoubted: @Sendable () -> Bool
    private let look: @Sendable () async throws -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - goodFor: how long it counts that all was well, unless `isDoubted`.
    ///   - badFor: how long a failure counts.
    init(
        goodFor: Duration = .seconds(2), badFor: Duration = .seconds(1), clock: any ServiceClock,
        isDoubted: @escaping @Sendable () -> Bool = { false }, _ look: @escaping @Sendable () async throws -> Void
    ) {
        self.goodFor = goodFor
        self.badFor = badFor
        self.clock = clock
        self.isDoubted = isDoubted
        self.look = look
    }

    /// Throws what the look threw, or `CancellationError` when the caller is cancelled before it ended.
    func callAsFunction() async throws {
        let (findings, finding) = AsyncStream.makeStream(of: Finding.self, bufferingPolicy: .bufferingNewest(1))
        switch turn(finding) {
        case .known(let known): return try known.get()
        case .waits(let begins): if begins { begin() }
        }
        for await found in findings { return try found.get() }
        throw CancellationError()
    }

    private func turn(_ caller: AsyncStream<Finding>.Continuation) -> Turn {
        let (now, isDoubted) = (clock.uptime, isDoubted())
        return state.withLock { state in
            if !state.isLooking, let (finding, endedAt) = state.last {
                switch finding {
                case .success where !isDoubted && now - endedAt < goodFor: return .known(finding)
                case .failure where now - endedAt < badFor: return .known(finding)
                default: break
                }
            }
            state.waiting.append(caller)
            defer { state.isLooking = true }
            return .waits(begins: !state.isLooking)
        }
    }

    private func begin() {
        Task {
            let finding: Finding
            do {
                try await look()
                finding = .success(())
            } catch { finding = .failure(error) }
            let now = clock.uptime
            let waiting = state.withLock { state in
                defer { (state.last, state.isLooking, state.waiting) = ((finding, now), false, []) }
                return state.waiting
            }
            for caller in waiting {
                caller.yield(finding)
                caller.finish()
            }
        }
    }
}
