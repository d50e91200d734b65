import Synchronization

/// Lets requests that carry the same credential at the same time share one verification: a phone that fetches ten things
/// at once must not cost ten password hashes.
final class SharedVerification<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value?, any Error>

    private let waiting = Mutex<[[UInt8]: [Waiter]]>([:])

    /// The outcome of `work`, run by whoever came first. The others wait for it; it has to end within a bounded time.
    func run(_ key: [UInt8], _ work: () async throws -> Value) async throws -> Value {
        do {
            if let shared = try await join(key) { return shared }
        } catch is CancellationError where !Task.isCancelled {
            // Whoever verified for all was cancelled; that is not this caller's answer.
            return try await run(key, work)
        }
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
        let waiters = waiting.withLock { $0.removeValue(forKey: key) } ?? []
        for waiter in waiters { waiter.resume(with: outcome.map { $0 }) }
        return try outcome.get()
    }

    /// What another caller found, or `nil` for the one who has to do the work.
    private func join(_ key: [UInt8]) async throws -> Value? {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFirst { continuation.resume(returning: nil) }
        }
    }
}
