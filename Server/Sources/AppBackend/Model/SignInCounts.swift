import Crypto
import RichPushModel
import WireText

/// The failed attempts of one kind, and until when the next one has to wait.
public struct SignInCount: Hashable, Sendable {
    /// Failures since the last pause of `SignInCounts.memory`.
    public var failures: Int64
    /// When the last one began.
    public var lastAt: Timestamp
    /// Before this moment no further attempt is verified.
    public var blockedUntil: Timestamp
    /// Until this moment the account counts as known in this network, because a password was right there.
    public var knownUntil: Timestamp

    /// Nothing was counted yet.
    public static let zero = SignInCount()

    /// Creates a count from what storage keeps.
    public init(
        failures: Int64 = 0, lastAt: Timestamp = Timestamp(milliseconds: 0), blockedUntil: Timestamp = Timestamp(milliseconds: 0),
        knownUntil: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.failures = failures
        self.lastAt = lastAt
        self.blockedUntil = blockedUntil
        self.knownUntil = knownUntil
    }

    /// From this moment on the count says nothing any more.
    public var idleAt: Timestamp { max(lastAt + SignInCounts.memory, knownUntil) }

    /// Whole seconds to wait, rounded up. After the clock was set back the wait is no longer than it was at its beginning.
    fileprivate func wait(_ limit: SignInLimit, at now: Timestamp) -> Int {
        let left = min(blockedUntil - now, limit.wait(after: failures)).wholeMilliseconds
        return left > 0 ? Int((left + 999) / 1000) : 0
    }

    /// The failures that are not forgotten.
    func failures(at now: Timestamp) -> Int64 { now - lastAt > SignInCounts.memory ? 0 : failures }

    /// Drops what is too old. After the clock was set back all moments follow it, so that the wait ends once its own length has passed;
    /// `SQLWaitRepair` does the same in the database.
    fileprivate mutating func settle(at now: Timestamp) {
        if lastAt > now {
            let step = lastAt - now
            (lastAt, blockedUntil, knownUntil) = (now, blockedUntil - step, knownUntil - step)
        }
        guard now - lastAt > SignInCounts.memory else { return }
        (failures, blockedUntil) = (0, Timestamp(milliseconds: 0))
    }

    fileprivate mutating func add(_ limit: SignInLimit, at now: Timestamp) {
        failures += 1
        lastAt = now
        blockedUntil = now + limit.wait(after: failures)
    }

    fileprivate mutating func takeBack() {
        failures = max(0, failures - 1)
        blockedUntil = Timestamp(milliseconds: 0)
    }
}

/// How many failures cost nothing, and how long the wait grows after that.
public struct SignInLimit: Hashable, Sendable {
    /// Failures without a wait.
    public let freeFailures: Int64
    /// The longest wait. It doubles up to here, from one second.
    public let longestWait: Duration

    func wait(after failures: Int64) -> Duration {
        guard failures >= freeFailures else { return .zero }
        return min(longestWait, .seconds(1 << min(failures - freeFailures, 10)))
    }
}

/// The decision on an attempt before its password is verified.
public enum SignInDecision: Hashable, Sendable {
    /// The password is verified now. The attempt counts as failed until `succeed` or `withdraw` says otherwise.
    case proceed(charged: SignInCounts.Scope)
    /// The password is not verified. Whole seconds, rounded up.
    case wait(seconds: Int, SignInCounts.Scope)
}

/// The three counts that an attempt to sign in meets: of the account in this network, of the account everywhere, and of this
/// network with all names. A value without I/O.
///
/// A network that the account signed in from lately meets the first count only. One network alone cannot make the account wait
/// elsewhere: it adds `contribution` failures at most until other networks have added theirs.
public struct SignInCounts: Hashable, Sendable {
    /// What a count is of.
    public enum Scope: Hashable, Sendable {
        /// The account in this network.
        case here
        /// The account, over all networks.
        case account
        /// The network, over all names.
        case source
        /// The account and the network.
        case everywhere
    }

    /// The account in one network.
    public static let here = SignInLimit(freeFailures: 5, longestWait: .seconds(60))
    /// The account over all networks where it is not known.
    public static let account = SignInLimit(freeFailures: 30, longestWait: .seconds(300))
    /// One network over all names that are not known there.
    public static let source = SignInLimit(freeFailures: 50, longestWait: .seconds(60))
    /// What one network adds at most to the count of an account that does not wait yet.
    public static let contribution: Int64 = 10
    /// After this long without an attempt the failures are forgotten.
    public static let memory: Duration = .seconds(3600)
    /// How long an account is known in a network after a right password.
    public static let knownFor: Duration = .seconds(30 * 24 * 3600)

    /// Of the account in this network.
    public var here: SignInCount
    /// Of the account everywhere.
    public var account: SignInCount
    /// Of this network.
    public var source: SignInCount

    /// Creates counts; nothing was counted unless it is given.
    public init(here: SignInCount = .zero, account: SignInCount = .zero, source: SignInCount = .zero) {
        self.here = here
        self.account = account
        self.source = source
    }

    /// Begins an attempt: counts it, or says how long to wait and changes nothing that counts.
    public mutating func begin(at now: Timestamp) -> SignInDecision {
        here.settle(at: now)
        account.settle(at: now)
        source.settle(at: now)
        if let refusal = refusal(at: now) { return refusal }
        let isKnown = isKnown(at: now)
        here.add(Self.here, at: now)
        guard !isKnown else { return .proceed(charged: .here) }
        source.add(Self.source, at: now)
        guard here.failures <= Self.contribution || account.failures >= Self.account.freeFailures else {
            return .proceed(charged: .source)
        }
        account.add(Self.account, at: now)
        return .proceed(charged: .everywhere)
    }

    /// Whether the account signed in from this network lately.
    public func isKnown(at now: Timestamp) -> Bool { now < here.knownUntil }

    /// Whether a success here would change nothing that matters: it is known for at least all but a day of the time.
    func isSettled(at now: Timestamp) -> Bool {
        here.failures(at: now) == 0 && here.knownUntil - now > Self.knownFor - .seconds(24 * 3600)
    }

    /// The answer to an attempt that has to wait; `nil` when it may go on.
    public func refusal(at now: Timestamp) -> SignInDecision? {
        let isKnown = isKnown(at: now)
        let waits: [(seconds: Int, scope: Scope)] = [
            (here.wait(Self.here, at: now), .here), (isKnown ? 0 : account.wait(Self.account, at: now), .account),
            (isKnown ? 0 : source.wait(Self.source, at: now), .source),
        ]
        guard let longest = waits.max(by: { $0.seconds < $1.seconds }), longest.seconds > 0 else { return nil }
        return .wait(seconds: longest.seconds, longest.scope)
    }

    /// The password was right: the account starts afresh in this network and is known there. Other failures of account and
    /// network stay counted, so that the owner's success gives an attacker no new guesses.
    public mutating func succeed(charged: Scope, at now: Timestamp) {
        takeBack(charged)
        here = SignInCount(knownUntil: now + Self.knownFor)
        here.lastAt = now
    }

    /// The attempt was never decided (a full queue, for example): it does not count.
    public mutating func withdraw(charged: Scope) {
        here.takeBack()
        takeBack(charged)
    }

    private mutating func takeBack(_ charged: Scope) {
        if charged == .account || charged == .everywhere { account.takeBack() }
        if charged == .source || charged == .everywhere { source.takeBack() }
    }
}

/// One attempt to sign in with a password, as it is counted.
public struct SignInAttempt: Hashable, Sendable {
    /// A digest of the user name. The name is not stored, because users sometimes type the password into the name field.
    public let account: String
    /// The network of the caller.
    public let source: SourceAddress

    /// Creates an attempt. The case of the name does not matter, and its first 64 characters count.
    public init(user: String, source: SourceAddress) {
        account = Self.account(of: user)
        self.source = source
    }

    /// The digest of a user name: 128 bits in hexadecimal.
    public static func account(of user: String) -> String {
        let digest = SHA256.hash(data: Array("sign-in account\n\(user.prefix(64).lowercased())".utf8))
        return Hexadecimal.text(of: digest.prefix(16))
    }
}

/// Where a request came from, reduced to what throttling counts: the first 24 bits of an IPv4 address, the first 64 of an
/// IPv6 address.
///
/// The caller decides whether a forwarding header may be believed; this only shortens.
public struct SourceAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address as it was given, cut to 64 characters. Two addresses are equal if their prefixes are.
    let address: String

    /// The prefix in a form that compares. Worked out when it is asked for: few requests need it.
    public var prefix: String {
        if let dotted = address.split(separator: ":").last, dotted.contains("."), let short = Self.shortIPv4(dotted) {
            return short
        }
        return address.contains(":") ? Self.shortIPv6(address) : address
    }

    public static func == (left: SourceAddress, right: SourceAddress) -> Bool { left.prefix == right.prefix }

    public func hash(into hasher: inout Hasher) { hasher.combine(prefix) }

    /// The prefix of an address in its usual text form (`192.0.2.7`, `2001:db8::7`, `::ffff:192.0.2.7`). Any other text, for
    /// example the path of a socket, stands for itself.
    public init(_ address: String) {
        self.address = address.utf8.count <= 64 ? address : String(address.prefix(64))
    }

    /// For callers inside the process.
    public static let local = SourceAddress("local")

    public var description: String { prefix }

    private static func shortIPv4(_ text: some StringProtocol) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) else { return nil }
        return parts.prefix(3).joined(separator: ".") + ".0/24"
    }

    private static func shortIPv6(_ text: String) -> String {
        let bare = text.prefix { $0 != "%" }
        let halves = bare.lowercased().split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        var groups = halves[0].split(separator: ":").map { UInt16($0, radix: 16) ?? 0 }
        let tail = halves.count > 1 ? halves[1].split(separator: ":").map { UInt16($0, radix: 16) ?? 0 } : []
        if halves.count > 1, groups.count + tail.count < 8 {
            groups += Array(repeating: 0, count: 8 - groups.count - tail.count)
        }
        groups += tail
        groups += Array(repeating: 0, count: max(0, 4 - groups.count))
        return groups.prefix(4).map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }
}

/// Keeps the counts of failed sign-ins, one for all nodes, and over a restart. Errors are `ServiceError`.
public protocol SignInCountStore: Sendable {
    /// The counts that an attempt meets, as they are now.
    func counts(for attempt: SignInAttempt) async throws -> SignInCounts

    /// Changes the counts that an attempt meets, in one transaction that others wait for. `body` may run more than once and must
    /// have no other effect. With `onlyHere` it sees and changes the count of the account in the network alone, and no other
    /// row is touched.
    func change<Result: Sendable>(
        _ attempt: SignInAttempt, onlyHere: Bool, at now: Timestamp, _ body: @escaping @Sendable (inout SignInCounts) -> Result
    ) async throws -> Result

    /// Removes every count of an account.
    func forget(account: String) async throws

    /// Removes at most `limit` counts that say nothing any more since `moment`; returns how many.
    func removeIdle(before moment: Timestamp, limit: Int) async throws -> Int
}

extension SignInCountStore {
    /// The same on all three counts.
    public func change<Result: Sendable>(
        _ attempt: SignInAttempt, at now: Timestamp, _ body: @escaping @Sendable (inout SignInCounts) -> Result
    ) async throws -> Result {
        try await change(attempt, onlyHere: false, at: now, body)
    }
}
