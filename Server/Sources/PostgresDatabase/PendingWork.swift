import SQLStorage

/// A transaction that waits for a connection, or for its commit.
protocol PendingWork: Sendable {
    /// When it was asked for.
    var since: Duration { get }
    /// Whether it runs alone among all processes.
    var isAlone: Bool { get }

    /// Runs it and returns how to answer once that may be told. Throws what it throws; may be called again.
    func perform(_ connection: any SQLConnection) throws -> @Sendable () -> Void

    /// Answers with an error.
    func fail(_ error: any Error)
}

/// Work with its result type and the caller who waits for it.
struct TypedWork<Result: Sendable>: PendingWork {
    let since: Duration
    let isAlone: Bool
    let body: @Sendable (any SQLConnection) throws -> Result
    let caller: WaitingCaller<Result>

    func perform(_ connection: any SQLConnection) throws -> @Sendable () -> Void {
        let result = try body(connection)
        return { [caller] in caller.answer(.success(result)) }
    }

    func fail(_ error: any Error) { caller.answer(.failure(error)) }
}
