/// One thing that must work before the server takes requests, for example its storage.
public struct ReadinessCheck: Sendable {
    /// The name in the answer of `/readyz`.
    public let name: String
    /// Throws while the thing does not work. What it throws is not shown to callers.
    public let check: @Sendable () async throws -> Void

    /// Creates a check.
    public init(name: String, check: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.check = check
    }
}
