import RichPushModel

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
