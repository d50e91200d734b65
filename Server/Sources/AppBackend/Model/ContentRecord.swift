import RichPushModel
import ServiceErrors

/// A stored content as the catalogue knows it.
public struct ContentRecord: Hashable, Sendable {
    /// 128 random bits in hexadecimal.
    public var id: String
    /// The user who stored it; only they may send it.
    public var owner: UserID
    public var digest: ContentDigest
    public var mediaType: String
    public var byteCount: Int64
    public var fileName: String?
    /// When it goes unless it is sent before; absent once it was sent.
    public var expiresAt: Timestamp?

    /// Creates a record.
    public init(
        id: String, owner: UserID, digest: ContentDigest, mediaType: String, byteCount: Int64, fileName: String?,
        expiresAt: Timestamp?
    ) {
        self.id = id
        self.owner = owner
        self.digest = digest
        self.mediaType = mediaType
        self.byteCount = byteCount
        self.fileName = fileName
        self.expiresAt = expiresAt
    }

    /// Its description for phones.
    public var descriptor: ContentDescriptor {
        ContentDescriptor(mediaType: mediaType, byteCount: byteCount, sha256: digest.text, fileName: fileName)
    }
}

/// Which of the stored forms of a content is meant. Variants are uploaded by the sender, never made by the server.
public enum ContentVariant: String, Sendable, Codable, CaseIterable {
    /// The bytes that the sender uploaded, without metadata.
    case original
    /// The small form for the service extension; without one, the original if it has at most 500 KB.
    case thumb

    /// The most bytes an original may have to stand in for a missing thumb (500 KB).
    public static let largestStandIn: Int64 = 500 * 1024
}

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

    /// The error for a content that does not fit; `size` describes its size.
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
