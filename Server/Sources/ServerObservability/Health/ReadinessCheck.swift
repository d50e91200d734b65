/// One thing that must work before the server takes requests, for example its storage.
public struct ReadinessCheck: Sendable {
    /// The name in the answer of `/readyz`.
    public let name: String
    /// Throws while the thing does not work. Only the reason of a `ReadinessFault` is shown to callers.
    public let check: @Sendable () async throws -> Void

    /// Creates a check.
    public init(name: String, check: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.check = check
    }
}

/// Why a thing does not work, in words that anybody may read: no path, no address, no name of a database.
public struct ReadinessFault: Error, Hashable, CustomStringConvertible {
    /// A clause such as `the disk is full (SQLITE_FULL)`.
    public let reason: String

    public var description: String { reason }

    /// Creates a fault with its reason.
    public init(_ reason: String) { self.reason = reason }
}
