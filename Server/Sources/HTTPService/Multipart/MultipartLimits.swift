/// How much a multipart body may hold besides its parts' bytes, which the router and the reader of each part bound.
public struct MultipartLimits: Sendable {
    /// The most bytes of the headers of one part.
    public var headerBytes: Int
    /// The most parts.
    public var parts: Int
    /// The most bytes before the first boundary.
    public var preambleBytes: Int

    /// Creates limits.
    public init(headerBytes: Int = 8 * 1024, parts: Int = 16, preambleBytes: Int = 4 * 1024) {
        self.headerBytes = headerBytes
        self.parts = parts
        self.preambleBytes = preambleBytes
    }
}
