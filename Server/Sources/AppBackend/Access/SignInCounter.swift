import RichPushModel
import ServiceErrors
import Synchronization

/// Counts attempts to sign in: in the database for all nodes, and in the memory of this node while the database keeps no writes.
///
/// A user who is known in a network is counted there only after a wrong password, so that a storm of right ones writes nothing.
final class SignInCounter: Sendable {
    /// What an attempt was charged; settled once its password has been verified.
    enum Charge: Hashable, Sendable {
        /// Counted in the database.
        case stored(SignInCounts.Scope)
        /// Counted in memory.
        case local(SignInCounts.Scope)
        /// Counted if the password is wrong. `isSettled` says that a right one changes nothing.
        case ifWrong(isSettled: Bool)
    }

    private struct Memory: Sendable {
        var underWay: [SignInAttempt: Int64] = [:]
        var counts = LocalSignInCounts()
        /// Successes whose count could not be taken back yet.
        var owed: [SignInAttempt: SignInCounts.Scope] = [:]
    }

    private static let owedLimit = 1_000
    private static let settledAtOnce = 10

    private let store: any SignInCountStore
    private let clock: any ServiceClock
    private let memory = Mutex(Memory())

    init(store: any SignInCountStore, clock: any ServiceClock) {
        self.store = store
        self.clock = clock
    }

    /// Counts an attempt. Throws `too-many-attempts`, and what the store throws when it cannot be read.
    func begin(_ attempt: SignInAttempt) async throws -> Charge {
        let now = clock.now
        let found = try await store.counts(for: attempt)
        // A caller who has to wait may come again and again, and must cost no write.
        if let refusal = found.refusal(at: now) { throw Self.error(refusal) }
        let isKnown = found.isKnown(at: now)
        if isKnown, found.here.failures(at: now) < SignInCounts.here.freeFailures {
            guard takePlace(attempt, beside: found.here.failures(at: now)) else { throw Self.error(.wait(seconds: 1, .here)) }
            return .ifWrong(isSettled: found.isSettled(at: now))
        }
        guard let decision = try await stored(attempt, onlyHere: isKnown, at: now, { $0.begin(at: now) }) else {
            return .local(try Self.scope(memory.withLock { $0.counts.change(attempt) { $0.begin(at: now) } }))
        }
        let scope = try Self.scope(decision)
        await settleOwed()
        return .stored(scope)
    }

    /// The password was right. Never fails: what cannot be stored is settled later.
    func succeed(_ attempt: SignInAttempt, _ charge: Charge) async {
        let now = clock.now
        switch charge {
        case .ifWrong(let isSettled):
            if !isSettled { try? await store.change(attempt, onlyHere: true, at: now) { $0.succeed(charged: .here, at: now) } }
            leave(attempt)
        case .stored(let scope):
            if await !settle(attempt, scope) { owe(attempt, scope) }
        case .local(let scope):
            memory.withLock { $0.counts.change(attempt) { $0.succeed(charged: scope, at: now) } }
        }
    }

    /// The password was wrong. Throws `too-many-attempts` if other attempts used up the allowance meanwhile, so that a guess
    /// beyond it does not learn that it was wrong.
    func fail(_ attempt: SignInAttempt, _ charge: Charge) async throws {
        guard case .ifWrong = charge else { return }
        defer { leave(attempt) }
        let now = clock.now
        let decision = try? await stored(attempt, onlyHere: true, at: now) { $0.begin(at: now) }
        _ = try Self.scope(decision ?? memory.withLock { $0.counts.change(attempt) { $0.begin(at: now) } })
    }

    /// The attempt was never decided.
    func withdraw(_ attempt: SignInAttempt, _ charge: Charge) async {
        switch charge {
        case .ifWrong: leave(attempt)
        case .stored(let scope):
            try? await store.change(attempt, onlyHere: scope == .here, at: clock.now) { $0.withdraw(charged: scope) }
        case .local(let scope): memory.withLock { $0.counts.change(attempt) { $0.withdraw(charged: scope) } }
        }
    }

    /// `nil` when the store keeps no writes now.
    private func stored(
        _ attempt: SignInAttempt, onlyHere: Bool, at now: Timestamp,
        _ body: @escaping @Sendable (inout SignInCounts) -> SignInDecision
    ) async throws -> SignInDecision? {
        do {
            return try await store.change(attempt, onlyHere: onlyHere, at: now, body)
        } catch let error as CancellationError {
            throw error
        } catch {
            return nil
        }
    }

    private func settle(_ attempt: SignInAttempt, _ scope: SignInCounts.Scope) async -> Bool {
        let now = clock.now
        do {
            try await store.change(attempt, onlyHere: scope == .here, at: now) { $0.succeed(charged: scope, at: now) }
            return true
        } catch {
            return false
        }
    }

    private func owe(_ attempt: SignInAttempt, _ scope: SignInCounts.Scope) {
        memory.withLock { memory in
            guard memory.owed.count < Self.owedLimit else { return }
            memory.owed[attempt] = scope
        }
    }

    /// Writes are kept again: some of what is owed goes now.
    private func settleOwed() async {
        for _ in 0..<Self.settledAtOnce {
            guard let (attempt, scope) = memory.withLock({ $0.owed.popFirst() }) else { return }
            guard await settle(attempt, scope) else { return owe(attempt, scope) }
        }
    }

    private func takePlace(_ attempt: SignInAttempt, beside failures: Int64) -> Bool {
        memory.withLock { memory in
            guard memory.underWay[attempt, default: 0] + failures < SignInCounts.here.freeFailures else { return false }
            memory.underWay[attempt, default: 0] += 1
            return true
        }
    }

    private func leave(_ attempt: SignInAttempt) {
        memory.withLock { memory in
            let count = memory.underWay[attempt, default: 0]
            memory.underWay[attempt] = count > 1 ? count - 1 : nil
        }
    }

    private static func scope(_ decision: SignInDecision) throws(ServiceError) -> SignInCounts.Scope {
        if case .proceed(let charged) = decision { return charged }
        throw error(decision)
    }

    private static func error(_ decision: SignInDecision) -> ServiceError {
        guard case .wait(let seconds, let scope) = decision else { return ServiceError(.internal) }
        return ServiceError(.tooManyAttempts, "too many failed sign-ins \(scope.text)", retryAfter: seconds)
    }
}

/// The counts of one node while the database keeps none. A value without I/O.
struct LocalSignInCounts: Sendable {
    private static let capacity = 20_000

    private var here: [SignInAttempt: SignInCount] = [:]
    private var accounts: [String: SignInCount] = [:]
    private var sources: [SourceAddress: SignInCount] = [:]

    /// Changes the counts that an attempt meets. Beyond the capacity all start afresh.
    mutating func change<Result>(_ attempt: SignInAttempt, _ body: (inout SignInCounts) -> Result) -> Result {
        if here.count >= Self.capacity { self = LocalSignInCounts() }
        var counts = SignInCounts(
            here: here[attempt] ?? .zero, account: accounts[attempt.account] ?? .zero, source: sources[attempt.source] ?? .zero)
        defer {
            here[attempt] = counts.here
            accounts[attempt.account] = counts.account
            sources[attempt.source] = counts.source
        }
        return body(&counts)
    }
}

extension SignInCounts.Scope {
    /// The scope of the failures, for the error.
    fileprivate var text: String {
        switch self {
        case .here: "for this user from here"
        case .account: "for this user"
        case .source, .everywhere: "from here"
        }
    }
}
