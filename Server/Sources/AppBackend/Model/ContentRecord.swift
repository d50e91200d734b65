import RichPushModel

/// A stored content as the catalogue knows it.
public struct ContentRecord: Hashable, Sendable {
    /// 128 random bits in hexadecimal.
    public var id: String
    /// Who stored it; only they may send it.
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

    /// What a phone is told of it.
    public var descriptor: ContentDescriptor {
        ContentDescriptor(mediaType: mediaType, byteCount: byteCount, sha256: digest.text, fileName: fileName)
    }
}
