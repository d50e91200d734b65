import Testing

/// Asks until the answer is there, and fails the test at the deadline. The only way in which these tests wait.
func eventually<Value>(
    _ what: Comment, within limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
    sourceLocation: SourceLocation = #_sourceLocation, _ question: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if let value = try await question() { return value }
        try await Task.sleep(for: .milliseconds(20))
    }
    return try #require(try await question(), what, sourceLocation: sourceLocation)
}
