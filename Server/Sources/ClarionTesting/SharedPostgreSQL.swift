import Testing

/// A throw-away PostgreSQL that all tests of a suite share.
public struct SharedPostgreSQL: SuiteTrait, TestScoping {
    /// The server of the suite; absent outside one.
    @TaskLocal public static var server: ThrowAwayPostgreSQL?

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await ThrowAwayPostgreSQL.with { server in
            try await Self.$server.withValue(server, operation: function)
        }
    }
}

extension Trait where Self == SharedPostgreSQL {
    /// Starts one PostgreSQL for the whole suite and what is nested in it.
    public static var sharedPostgreSQL: Self { Self() }
}
