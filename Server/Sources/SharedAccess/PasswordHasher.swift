/// Hashes passwords on threads of its own, so that a storm of sign-ins never takes the threads of everything else, and
/// with a bounded queue, so that it never takes the memory either.
///
/// A full queue throws `PasswordHashFault.queueFull`; answer 503 with `retryAfter`. The threads end when the hasher goes.
public final class PasswordHasher: Sendable {
    /// How many jobs wait at most; two callers that share it fairly take that as the whole.
    public let capacity: Int
    private let queue: HashingQueue
    /// What new hashes cost.
    public let cost: PasswordHash.Cost

    /// Creates a hasher with `threads` threads, at most `capacity` waiting jobs, and the cost of new hashes.
    public init(threads: Int = 2, capacity: Int = PasswordHasher.standardCapacity, cost: PasswordHash.Cost = .standard) {
        self.capacity = max(1, capacity)
        queue = HashingQueue(capacity: capacity)
        self.cost = cost
        for number in 1...max(1, threads) { queue.startThread(named: "password-hashing-\(number)") }
    }

    deinit { queue.stop() }

    /// How many jobs wait at most unless another number is given: two processors work some six seconds on them.
    public static let standardCapacity = 64

    /// How long a caller who met a full queue should wait, in seconds.
    public static let retryAfter = 2

    /// The hash of a new password.
    public func hash(_ password: String) async throws(PasswordHashFault) -> PasswordHash {
        let cost = cost
        return try await perform { () throws(PasswordHashFault) in try PasswordHash(of: password, cost: cost) }
    }

    /// Whether the hash is of this password.
    public func verify(_ password: String, against hash: PasswordHash) async throws(PasswordHashFault) -> Bool {
        try await perform { () throws(PasswordHashFault) in try hash.verifies(password) }
    }

    /// Runs other work on one of the threads, for tests; `false` when the queue is full.
    package func occupy(_ work: @escaping @Sendable () -> Void) -> Bool { queue.submit { _ in work() } }

    private func perform<Value: Sendable>(
        _ work: @escaping @Sendable () throws(PasswordHashFault) -> Value
    ) async throws(PasswordHashFault) -> Value {
        let result: Result<Value, PasswordHashFault> = await withCheckedContinuation { continuation in
            let accepted = queue.submit { isRunning in
                guard isRunning else { return continuation.resume(returning: .failure(.stopped)) }
                continuation.resume(returning: Result { () throws(PasswordHashFault) in try work() })
            }
            if !accepted { continuation.resume(returning: .failure(.queueFull)) }
        }
        return try result.get()
    }
}
