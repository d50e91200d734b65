import RichPushModel

/// What a sealed notification says, as only its recipients read it. The sender declares all of it: the server can check nothing.
public struct SealedWords: Hashable, Sendable, Codable {
    /// What it really is; the server knows only `sealed`.
    public var kind: ContentKind
    public var title: String?
    public var subtitle: String?
    public var message: String
    public var altText: String?
    /// For kind `url`.
    public var link: String?
    /// For kind `coupon`.
    public var coupon: Coupon?
    /// The content before it was sealed; the sealer fills it in.
    public internal(set) var content: ContentDescriptor?
    /// The small picture before it was sealed; the sealer fills it in.
    public internal(set) var thumb: ContentDescriptor?

    /// Creates words.
    public init(kind: ContentKind = .text, title: String? = nil, message: String) {
        self.kind = kind
        self.title = title
        self.message = message
    }
}
