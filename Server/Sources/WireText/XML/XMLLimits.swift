/// How large a document may be that a caller wants read. There is no expansion of any kind, so memory stays within a small
/// multiple of `bytes`.
public struct XMLLimits: Hashable, Sendable {
    /// Bytes of the document as it arrived.
    public var bytes: Int
    /// Elements inside each other.
    public var depth: Int
    /// Elements altogether.
    public var elements: Int
    /// Attributes of one element.
    public var attributes: Int
    /// Bytes of text directly inside one element.
    public var text: Int

    /// Creates limits.
    public init(
        bytes: Int = 256 * 1024, depth: Int = 32, elements: Int = 4096, attributes: Int = 32, text: Int = 128 * 1024
    ) {
        self.bytes = bytes
        self.depth = depth
        self.elements = elements
        self.attributes = attributes
        self.text = text
    }
}
