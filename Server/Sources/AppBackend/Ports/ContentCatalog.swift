import RichPushModel

/// Knows which contents exist, whose they are, and when they go. Errors are `ServiceError`.
public protocol ContentCatalog: Sendable {
    /// Adds a content that waits to be sent. Throws `quota-exceeded` when it does not fit beside the owner's contents,
    /// waiting and sent; decided in the transaction that adds it, so that two uploads cannot both take the last bytes.
    func stage(_ content: ContentRecord, quota: ContentQuota, at now: Timestamp) async throws

    /// What the owner's contents take up together, without those that have expired.
    func use(of owner: UserID, at now: Timestamp) async throws -> ContentUse

    /// Adds or replaces a content that stays until it is replaced.
    func keep(_ content: ContentRecord, at now: Timestamp) async throws

    /// The content, waiting or sent; `nil` when it is gone or has expired.
    func content(_ id: String, at now: Timestamp) async throws -> ContentRecord?

    /// Deletes at most `limit` contents that expired before `moment`; returns how many. A digest that no content has any more
    /// becomes an orphan in the same transaction.
    func removeExpired(before moment: Timestamp, limit: Int) async throws -> Int

    /// Digests whose bytes no content refers to, in order after `digest`; at most `limit` are looked at. An orphan that has a
    /// content again is none any more.
    func orphans(after digest: ContentDigest?, limit: Int) async throws -> OrphanPage

    /// Makes orphans of those of the digests that no content refers to.
    func noteStrays(among digests: [ContentDigest]) async throws

    /// Notes that the bytes of an orphan are gone from the content store.
    func forgetOrphan(_ digest: ContentDigest) async throws
}

/// A piece of the orphans.
public struct OrphanPage: Hashable, Sendable {
    public var digests: [ContentDigest]
    /// Where the next piece begins; absent after the last.
    public var next: ContentDigest?

    /// Creates a page.
    public init(digests: [ContentDigest], next: ContentDigest?) {
        self.digests = digests
        self.next = next
    }
}
