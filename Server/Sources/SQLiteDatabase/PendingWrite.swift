import SQLStorage

/// A write that waits for its commit.
protocol PendingWrite: Sendable {
    /// Runs the write and returns how to answer once the commit is durable. Throws what the write throws.
    func perform(_ connection: any SQLConnection) throws -> @Sendable () -> Void

    /// Answers with an error.
    func fail(_ error: any Error)
}

/// A write with its result type and the caller who waits for it.
struct TypedWrite<Result: Sendable>: PendingWrite {
    let body: @Sendable (any SQLConnection) throws -> Result
    let continuation: CheckedContinuation<Result, any Error>

    func perform(_ connection: any SQLConnection) throws -> @Sendable () -> Void {
        let result = try body(connection)
        return { [continuation] in continuation.resume(returning: result) }
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
