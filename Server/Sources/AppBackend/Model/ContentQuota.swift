import ServiceErrors

/// What the contents of one user take up.
public struct ContentUse: Hashable, Sendable {
    /// Bytes of all contents; each counts `ContentQuota.smallest` at least.
    public var bytes: Int64
    /// Contents that wait to be sent.
    public var waiting: Int

    /// Creates a use.
    public init(bytes: Int64, waiting: Int) {
        self.bytes = bytes
        self.waiting = waiting
    }
}

/// How much the contents of one user may take up.
public struct ContentQuota: Hashable, Sendable {
    /// What a content counts at least, in bytes: a file takes a block of the disk, and a row of the database.
    public static let smallest: Int64 = 4096

    /// The most bytes of all contents.
    public var bytes: Int64
    /// The most contents that wait to be sent.
    public var waiting: Int

    /// Creates a quota.
    public init(bytes: Int64, waiting: Int = .max) {
        self.bytes = bytes
        self.waiting = waiting
    }

    /// The largest content that fits beside these. Throws `quota-exceeded` when none does.
    public func room(beside use: ContentUse) throws(ServiceError) -> Int64 {
        try check(Self.smallest, beside: use, saying: "has some too")
        return bytes - use.bytes
    }

    /// Throws `quota-exceeded` when a content of this size does not fit beside these.
    public func check(_ size: Int64, beside use: ContentUse) throws(ServiceError) {
        try check(max(size, Self.smallest), beside: use, saying: "has \(size) bytes")
    }

    /// What a caller is told whose content does not fit; `size` says how large it is.
    public func exceeded(beside use: ContentUse, by size: String) -> ServiceError {
        ServiceError(
            .quotaExceeded,
            """
            your contents have \(use.bytes) of the \(bytes) bytes that are allowed, and this one \(size); each counts \
            \(Self.smallest) bytes at least; recalling a send gives its bytes back, and so does the end of its time
            """)
    }

    private func check(_ counted: Int64, beside use: ContentUse, saying size: String) throws(ServiceError) {
        guard use.waiting < waiting else {
            throw ServiceError(
                .quotaExceeded,
                "\(use.waiting) of your contents wait to be sent, and no more may; send them, or wait until they expire")
        }
        guard use.bytes + counted <= bytes else { throw exceeded(beside: use, by: size) }
    }
}
