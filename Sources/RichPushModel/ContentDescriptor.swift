/// What is known of a stored content before it is fetched, so that a phone can check what it gets.
public struct ContentDescriptor: Hashable, Sendable, Codable {
    /// The media type that was sniffed from the bytes when they were stored, for example `image/png`.
    public var mediaType: String
    /// The size in bytes.
    public var byteCount: Int64
    /// SHA-256 of the bytes: 64 lower-case hexadecimal digits. Also the strong `ETag`.
    public var sha256: String
    /// The name the sender gave, cleaned for use in a header and never used as a path.
    public var fileName: String?

    /// Creates a descriptor.
    public init(mediaType: String, byteCount: Int64, sha256: String, fileName: String? = nil) {
        self.mediaType = mediaType
        self.byteCount = byteCount
        self.sha256 = sha256
        self.fileName = fileName
    }
}
