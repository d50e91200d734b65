import Crypto
import CryptoExtras
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
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

        /// Creates a cost.
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
