import Logging
import PushHub
import RichPushModel
import SQLStorage
import ServerObservability
import ServerStorage
import ServiceErrors
import Synchronization

/// What `/readyz` asks: whether the database and the contents can be read and take a write now.
///
/// Each check runs once at a time and its result counts for seconds, so that many callers cost nothing. A changed result is logged.
struct NodeReadiness: Sendable {
    let checks: [ReadinessCheck]

    init(_ storage: NodeStorage, clock: any ServiceClock, logger: Logger) {
        let database = SharedLook(clock: clock, isDoubted: { storage.database.lastWriteFault != nil }) {
            try await storage.check()
        }
        // The check of the contents writes a file or asks a bucket.
        let contents = SharedLook(goodFor: .seconds(5), clock: clock) { try await storage.contents.check() }
        checks = [
            // A write waits longer for another program's lock than a caller waits here.
            Self.check("storage", database, TroubleLog("The database does not do its work", logger: logger)) {
                storage.database.lastWriteFault.map(WriteHealth.text)
            },
            Self.check("content-store", contents, TroubleLog("The content store does not do its work", logger: logger)),
        ]
    }

    /// Checks once before the start. A node that is not ready starts nevertheless: it serves reads, and becomes ready once the
    /// checks pass. A bucket was asked before, when the contents were prepared.
    func lookAtStart(_ storage: NodeStorage) async {
        for check in storage.contents.isShared ? Array(checks.prefix(1)) : checks { try? await check.check() }
    }

    /// - Parameter known: why the part did not work last, for a caller that waits no longer; `nil` when it did.
    static func check(
        _ name: String, _ look: SharedLook, _ trouble: TroubleLog, known: @escaping @Sendable () -> String? = { nil }
    ) -> ReadinessCheck {
        ReadinessCheck(name: name) {
            do {
                try await look()
                trouble.succeeded()
            } catch is CancellationError {
                throw known().map { ReadinessFault($0) as any Error } ?? CancellationError()
            } catch {
                trouble.failed(error)
                throw error
            }
        }
    }
}

/// A check of an external part that many callers share: it runs once at a time, and its result counts for a while.
///
/// A caller that is cancelled stops waiting. The check itself goes on, since a stuck engine does not react to cancellation; later
/// callers wait for the same check.
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
    ///   - goodFor: how long a success counts, unless `isDoubted`.
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
