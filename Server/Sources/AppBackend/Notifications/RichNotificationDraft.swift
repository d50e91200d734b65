import RichPushModel
import TagExpressions

/// A rich notification that was checked and is to be stored: everything but its number.
public struct RichNotificationDraft: Hashable, Sendable {
    public var sender: UserID
    public var senderName: UserName
    public var kind: ContentKind
    public var style: DeliveryStyle
    public var words: NotificationWords
    /// Contents of the sender, waiting or sent before.
    public var contentID: String?
    public var thumbID: String?
    public var audience: TagExpression
    public var expiresAt: Timestamp?
    /// The pace of the push (see `SendCommand`).
    public var pushesPerSecond: Int?
    public var push: PushTemplate
    /// A random word that makes the hub's idempotency key unlike that of any other backend.
    public var nonce: String
    public var idempotencyKey: IdempotencyKey?
    /// The number that the sender sealed it under; absent for the next.
    public var number: RichID?

    /// Creates a draft.
    public init(
        sender: UserID, senderName: UserName, kind: ContentKind, style: DeliveryStyle, words: NotificationWords,
        contentID: String? = nil, thumbID: String? = nil, audience: TagExpression, expiresAt: Timestamp? = nil,
        pushesPerSecond: Int? = nil, push: PushTemplate, nonce: String, idempotencyKey: IdempotencyKey? = nil,
        number: RichID? = nil
    ) {
        self.sender = sender
        self.senderName = senderName
        self.kind = kind
        self.style = style
        self.words = words
        self.contentID = contentID
        self.thumbID = thumbID
        self.audience = audience
        self.expiresAt = expiresAt
        self.pushesPerSecond = pushesPerSecond
        self.push = push
        self.nonce = nonce
        self.idempotencyKey = idempotencyKey
        self.number = number
    }
}

/// A caller's idempotency key and what it was used for.
public struct IdempotencyKey: Hashable, Sendable {
    /// Scoped to the sender.
    public var key: String
    /// SHA-256 of the request; the same key with another digest is refused.
    public var digest: [UInt8]

    /// Creates a key.
    public init(key: String, digest: [UInt8]) {
        self.key = key
        self.digest = digest
    }
}
