import RichPushModel

/// Keeps the bytes of contents under their SHA-256. Knows nothing of users and notifications. Errors are `ServiceError`.
public protocol ContentStore: Sendable {
    /// Starts to store bytes whose digest is not known yet. Throws `overloaded` when too many uploads run.
    func beginUpload(limit: Int64) async throws -> any ContentUpload

    /// Opens stored bytes; `nil` when there are none under this digest.
    func open(_ digest: ContentDigest) async throws -> (any ContentReader)?

    /// Removes bytes that nobody refers to, unless they were stored (again) since `moment`. Whether they are gone now.
    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool

    /// The digests under which there are bytes, in order after `digest`, at most `limit`.
    func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest]

    /// Whether `link` may return anything.
    var handsOutLinks: Bool { get }

    /// An address at which anybody gets the bytes from the store itself for `lifetime`, with this media type and
    /// `Content-Disposition`; `nil` when the store hands none out.
    func link(to digest: ContentDigest, mediaType: String, disposition: String, lifetime: Duration) -> String?
}

extension ContentStore {
    /// No.
    public var handsOutLinks: Bool { false }

    /// None: the bytes come from this server alone.
    public func link(to digest: ContentDigest, mediaType: String, disposition: String, lifetime: Duration) -> String? { nil }
}

/// Bytes on their way into the store. Letting go of it without `finish` leaves nothing behind.
public protocol ContentUpload: Sendable {
    /// Adds bytes. Throws `content-too-large` when they exceed the limit; the upload is over then.
    func write(_ chunk: [UInt8]) async throws

    /// Makes the bytes durable. From then on they can be opened.
    func finish() async throws -> StoredBytes

    /// Forgets them.
    func abort() async
}

/// What an upload came to.
public struct StoredBytes: Hashable, Sendable {
    public var digest: ContentDigest
    public var byteCount: Int64

    /// Creates a result.
    public init(digest: ContentDigest, byteCount: Int64) {
        self.digest = digest
        self.byteCount = byteCount
    }
}

/// Opened bytes. They stay readable while this value lives, even if they are removed meanwhile.
public protocol ContentReader: Sendable {
    /// How many bytes there are.
    var size: Int64 { get }

    /// Exactly `count` bytes from `offset` on; both lie within the content.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]
}
