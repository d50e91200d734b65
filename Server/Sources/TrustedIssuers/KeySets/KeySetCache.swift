import Logging
import RichPushModel
import Synchronization

/// The keys of one issuer.
///
/// Only `run()` fetches: a caller with an unknown key waits for its next fetch, so the end of that caller's request ends no fetch that
/// others wait for.
public final class KeySetCache: Sendable {
    let issuer: TrustedIssuer
    let store: (any KeySetStore)?
    let clock: any ServiceClock
    let logger: Logger
    let download: KeySetDownload
    let state = Mutex(State())
    /// Says to `run()` that callers wait for a fetch.
    let demands = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    struct State {
        var held: HeldKeySet?
        var isFetching = false
        var isDemanded = false
        var isStopped = false
        var lastFetch: Duration?
        var nextWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var fetches = 0
        var failures = 0
        var failuresInARow = 0
        var lastFailure: String?
        var refusedUnknownKeys = 0
    }

    /// A key set in use. Without `end` it is that of a file.
    struct HeldKeySet {
        var set: KeySet
        var fetched: Duration
        var life: Duration?

        func age(at uptime: Duration) -> Duration { uptime - fetched }

        func isUsable(at uptime: Duration) -> Bool { life.map { age(at: uptime) < $0 + KeySetLimits.outage } ?? true }

        func isCurrent(at uptime: Duration) -> Bool { life.map { age(at: uptime) < $0 } ?? true }

        /// When the next is fetched: so early that some failures do no harm.
        var renewal: Duration? { life.map { fetched + $0 * 4 / 5 } }
    }

    /// Creates a cache. It has the keys of a file at once, and others when `run()` has fetched them.
    public init(
        issuer: TrustedIssuer, fetching: any KeySetFetching, store: (any KeySetStore)?, clock: any ServiceClock, logger: Logger
    ) async {
        self.issuer = issuer
        self.store = store
        self.clock = clock
        self.logger = logger
        download = KeySetDownload(issuer: issuer.issuer, fetching: fetching)
        guard let document, let set = try? await KeySet(document: Array(document.utf8), algorithms: issuer.algorithms) else {
            return
        }
        state.withLock { $0.held = HeldKeySet(set: set, fetched: clock.uptime, life: nil) }
    }

    /// The contents of the issuer's key file; `nil` when its keys are fetched.
    var document: String? {
        guard case .document(let text) = issuer.keySource else { return nil }
        return text
    }

    /// The key of a token.
    ///
    /// An unknown `kid` starts one fetch for all callers, if the last began at least a minute ago: else invented `kid`s would flood the
    /// issuer.
    func key(id: String?, algorithm: SignatureAlgorithm) async throws(TokenError) -> VerificationKey {
        if let key = try usableKey(id: id, algorithm: algorithm) { return key }
        await nextFetch()
        if let key = try usableKey(id: id, algorithm: algorithm) { return key }
        let mayComeAgain = state.withLock {
            Self.set(in: $0, at: clock.uptime) == nil || $0.waiters.count >= KeySetLimits.waiters
        }
        throw TokenError(mayComeAgain ? .keysUnavailable : .unknownKey)
    }

    /// How the keys stand now.
    public var standing: KeySetStanding {
        let uptime = clock.uptime
        return state.withLock { state in
            let held = state.held.flatMap { $0.isUsable(at: uptime) ? $0 : nil }
            return KeySetStanding(
                issuer: issuer.issuer, state: held.map { $0.isCurrent(at: uptime) ? .current : .outlived } ?? .missing,
                keyCount: held?.set.keys.count ?? 0, skipped: held?.set.skipped ?? [:],
                age: held.flatMap { $0.life == nil ? nil : $0.age(at: uptime) }, fetches: state.fetches, failures: state.failures,
                failuresInARow: state.failuresInARow, lastFailure: state.lastFailure,
                refusedUnknownKeys: state.refusedUnknownKeys)
        }
    }

    private func usableKey(id: String?, algorithm: SignatureAlgorithm) throws(TokenError) -> VerificationKey? {
        try state.withLock { Self.set(in: $0, at: clock.uptime) }?.key(id: id, algorithm: algorithm)
    }

    private static func set(in state: borrowing State, at uptime: Duration) -> KeySet? {
        state.held.flatMap { $0.isUsable(at: uptime) ? $0.set : nil }
    }

    /// Waits for the end of the fetch that is under way or may begin now; returns at once when none may.
    private func nextFetch() async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                if !wait(waiter, id: id) { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }

    /// Adds a caller to those who wait; `false` when no fetch may begin, or when too many wait.
    private func wait(_ waiter: CheckedContinuation<Void, Never>, id: UInt64) -> Bool {
        guard document == nil else { return false }
        let uptime = clock.uptime
        return state.withLock { state in
            // Looked at under the lock: a cancellation from now on finds the waiter, and one before found nothing to resume.
            guard !state.isStopped, !Task.isCancelled, state.waiters.count < KeySetLimits.waiters else { return false }
            if !state.isFetching, !state.isDemanded {
                guard state.lastFetch.map({ uptime - $0 >= KeySetLimits.pause }) ?? true else {
                    state.refusedUnknownKeys += 1
                    return false
                }
                state.isDemanded = true
                demands.continuation.yield()
            }
            state.waiters[id] = waiter
            return true
        }
    }
}
