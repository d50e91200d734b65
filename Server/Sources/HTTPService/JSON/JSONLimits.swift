/// How much JSON a body may hold.
public struct JSONLimits: Sendable {
    /// The most bytes.
    public var byteCount: Int
    /// The deepest nesting of objects and lists.
    public var depth: Int

    /// Creates limits; the defaults are far above anything the API describes.
    public init(byteCount: Int = 256 * 1024, depth: Int = 16) {
        self.byteCount = byteCount
        self.depth = depth
    }
}
