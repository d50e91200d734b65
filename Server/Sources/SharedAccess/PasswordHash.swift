import Crypto
import CryptoExtras
import Foundation
import WireText

#if canImport(Glibc)
    import Glibc
#endif

/// A password as it is stored: scrypt (RFC 7914) with its parameters and salt, in the usual `$scrypt$…` text form.
///
/// Making and verifying one costs about 16 MB and some 0.2 s of CPU: call it through `PasswordHasher`.
public struct PasswordHash: Sendable, Equatable {
    /// What a hash costs.
    public struct Cost: Sendable, Hashable {
        /// The binary logarithm of scrypt's N.
        public var logarithmOfRounds: Int
        /// scrypt's r.
        public var blockSize: Int
        /// scrypt's p.
        public var parallelism: Int

        public init(logarithmOfRounds: Int, blockSize: Int, parallelism: Int) {
            self.logarithmOfRounds = logarithmOfRounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// N = 2^14, r = 8, p = 5: what new hashes cost, after OWASP's Password Storage Cheat Sheet.
        public static let standard = Cost(logarithmOfRounds: 14, blockSize: 8, parallelism: 5)

        /// Bounds on what a stored text may ask of this machine: 256 MB, and about three times the work of a new hash.
        var isAcceptable: Bool {
            guard (1...17).contains(logarithmOfRounds), (1...16).contains(blockSize), (1...16).contains(parallelism) else {
                return false
            }
            return (1 << logarithmOfRounds) * blockSize * parallelism <= 1 << 21
        }
    }

    private static let saltLength = 16
    private static let keyLength = 32

    public let cost: Cost
    let salt: [UInt8]
    let key: [UInt8]

    /// Hashes a password with a new random salt.
    public init(of password: String, cost: Cost = .standard) throws(PasswordHashFault) {
        try self.init(of: password, cost: cost, salt: RandomBytes.make(Self.saltLength))
    }

    init(of password: String, cost: Cost, salt: [UInt8]) throws(PasswordHashFault) {
        self.cost = cost
        self.salt = salt
        key = try Self.derive(password, salt: salt, cost: cost, count: Self.keyLength)
    }

    /// Reads the stored form; `nil` when it is damaged or asks for more than this machine grants.
    public init?(stored text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", let cost = Self.cost(from: parts[2]),
            let salt = Base64URL.bytes(of: parts[3]), let key = Base64URL.bytes(of: parts[4]),
            cost.isAcceptable, (8...64).contains(salt.count), (16...64).contains(key.count)
        else { return nil }
        self.cost = cost
        self.salt = salt
        self.key = key
    }

    /// The stored form, for example `$scrypt$ln=14,r=8,p=5$…$…`. It is for the database only.
    public var stored: String {
        "$scrypt$ln=\(cost.logarithmOfRounds),r=\(cost.blockSize),p=\(cost.parallelism)"
            + "$\(Base64URL.text(of: salt))$\(Base64URL.text(of: key))"
    }

    /// Whether this is the hash of the password. Compares in constant time.
    public func verifies(_ password: String) throws(PasswordHashFault) -> Bool {
        ConstantTime.equal(try Self.derive(password, salt: salt, cost: cost, count: key.count), key)
    }

    private static func derive(
        _ password: String, salt: [UInt8], cost: Cost, count: Int
    ) throws(PasswordHashFault) -> [UInt8] {
        do {
            let key = try KDF.Scrypt.deriveKey(
                from: Array(password.utf8), salt: salt, outputByteCount: count, rounds: 1 << cost.logarithmOfRounds,
                blockSize: cost.blockSize, parallelism: cost.parallelism)
            return key.withUnsafeBytes { Array($0) }
        } catch {
            throw .derivationFailed
        }
    }

    private static func cost(from text: Substring) -> Cost? {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 3, let rounds = number(fields[0], "ln="), let block = number(fields[1], "r="),
            let parallelism = number(fields[2], "p=")
        else { return nil }
        return Cost(logarithmOfRounds: rounds, blockSize: block, parallelism: parallelism)
    }

    private static func number(_ field: Substring, _ name: String) -> Int? {
        field.hasPrefix(name) ? Int(field.dropFirst(name.count)) : nil
    }
}

extension PasswordHash: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "password hash (not shown)" }
    public var debugDescription: String { description }
}

/// Why a password could not be hashed.
public enum PasswordHashFault: Error, Hashable, Sendable {
    /// The derivation itself failed, for example for want of memory.
    case derivationFailed
    /// As many passwords wait as may wait.
    case queueFull
    /// The hasher was shut down.
    case stopped
}

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

/// The bounded queue behind `PasswordHasher` and the threads that empty it.
///
/// `@unchecked` is safe: `jobs` and `isStopped` are only touched while `condition` is locked.
final class HashingQueue: @unchecked Sendable {
    typealias Job = @Sendable (_ isRunning: Bool) -> Void

    private let condition = NSCondition()
    private let capacity: Int
    private var jobs: [Job] = []
    private var isStopped = false

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Adds a job; `false` when the queue is full or stopped. An accepted job is called exactly once.
    func submit(_ job: @escaping Job) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopped, jobs.count < capacity else { return false }
        jobs.append(job)
        condition.signal()
        return true
    }

    /// Ends the threads; jobs still waiting fail.
    func stop() {
        condition.lock()
        isStopped = true
        let waiting = jobs
        jobs = []
        condition.broadcast()
        condition.unlock()
        for job in waiting { job(false) }
    }

    func startThread(named name: String) {
        let thread = Thread { [self] in
            Self.yieldToOthers()
            while let job = next() { job(true) }
        }
        thread.name = name
        thread.start()
    }

    /// Lets the threads that answer requests go first where processors are short (Linux with glibc): hashing would take all that there are.
    private static func yieldToOthers() {
        #if canImport(Glibc)
            // For Linux zero is the calling thread, not the process. Refused or not, hashing goes on.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #endif
    }

    private func next() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty, !isStopped { condition.wait() }
        return jobs.isEmpty ? nil : jobs.removeFirst()
    }
}
