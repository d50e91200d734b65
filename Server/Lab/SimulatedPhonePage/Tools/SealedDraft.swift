import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A notification to be sealed by its sender. What is in it reaches the app backend in no other form than sealed.
public struct SealedDraft: Hashable, Sendable, Codable {
    static let fields: Set<String> = [
        "sender", "users", "kind", "style", "title", "subtitle", "message", "altText", "link", "coupon", "coupon.code",
        "coupon.headline", "coupon.terms", "coupon.validUntil", "fileName", "content", "thumb",
    ]

    /// Who sends.
    public var sender: String
    /// Whose phones open it.
    public var users: [String]
    public var kind: ContentKind
    public var style: DeliveryStyle?
    public var title: String?
    public var subtitle: String?
    public var message: String
    public var altText: String?
    public var link: String?
    public var coupon: Coupon?
    /// The name of the content; its ending says its type.
    public var fileName: String?
    /// The bytes of the content, in JSON as Base64.
    public var content: Data?
    /// A small picture of it.
    public var thumb: Data?

    /// Creates a draft.
    public init(sender: String, users: [String], kind: ContentKind, message: String) {
        self.sender = sender
        self.users = users
        self.kind = kind
        self.message = message
    }
}
