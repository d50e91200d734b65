import RichPushModel
import WireText

/// Keeps the bytes of contents under their SHA-256. Knows nothing of users and notifications. Errors are `ServiceError`.
public protocol ContentStore: Sendable {
    /// Starts to store bytes whose digest is not known yet. Throws `overloaded` when too many uploads run.
    func beginUpload(limit: Int64) async throws -> any ContentUpload

    /// Opens stored bytes; `nil` when there are none under this digest.
    func open(_ digest: ContentDigest) async throws -> (any ContentReader)?

    /// Removes unreferenced bytes, unless they were stored (again) since `moment`. Returns whether they are gone now.
    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool

    /// The digests under which there are bytes, in order after `digest`, at most `limit`.
    func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest]

    /// Whether `link` may return anything.
    var handsOutLinks: Bool { get }

    /// A presigned URL of the bytes in the store, valid for `lifetime`, with this media type and `Content-Disposition`; `nil` when
    /// the store has none.
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

/// The SHA-256 of a content: 64 lower-case hexadecimal digits. The only thing that names bytes in a store, so nothing else
/// ever becomes a path or a key.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Reads a digest; `nil` for anything but 64 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard text.utf8.count == 64, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        self.text = text
    }

    /// The digest of hash bytes; `nil` unless there are 32.
    public init?(bytes: some Sequence<UInt8>) {
        self.init(Hexadecimal.text(of: bytes))
    }

    public var description: String { text }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
