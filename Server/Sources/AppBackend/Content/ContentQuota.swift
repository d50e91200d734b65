import ServiceErrors

/// How many bytes the contents of one user may have together, and how many they have.
public struct ContentQuota: Hashable, Sendable {
    public var limit: Int64
    public var used: Int64

    /// Creates a quota.
    public init(limit: Int64, used: Int64) {
        self.limit = limit
        self.used = used
    }

    /// How many bytes are left.
    public var left: Int64 { max(0, limit - used) }

    /// What a caller is told whose content does not fit; `size` says how large it is.
    public func exceeded(by size: String) -> ServiceError {
        ServiceError(
            .quotaExceeded,
            """
            your contents have \(used) of the \(limit) bytes that are allowed, and this one \(size); recalling a send gives its \
            bytes back, and so does the end of its time
            """)
    }
}
