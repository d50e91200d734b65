import PushHub
import RichPushModel
import TagExpressions

/// A rich notification as the server keeps it.
public struct RichNotification: Hashable, Sendable {
    public var id: RichID
    public var sender: UserID
    public var senderName: UserName
    public var kind: ContentKind
    public var style: DeliveryStyle
    public var words: NotificationWords
    public var content: ContentRecord?
    public var thumb: ContentRecord?
    public var audience: TagExpression
    public var dueAt: Timestamp
    /// Where in the order of the database it began.
    public var order: OrderNumber
    /// After which nobody reads it any more.
    public var expiresAt: Timestamp?
    /// When the hub was done with it; absent until then.
    public var completedAt: Timestamp?
    /// Where in the order of the database it ended. Absent until then, and when a hub elsewhere was done with it.
    public var endOrder: OrderNumber?
    public var recalledAt: Timestamp?
    /// The hub's id; absent until the hub has taken it.
    public var trackingID: NotificationID?
    /// Whether the hub refused it for good.
    public var isRefused: Bool

    /// Creates a notification.
    public init(
        id: RichID, sender: UserID, senderName: UserName, kind: ContentKind, style: DeliveryStyle, words: NotificationWords,
        content: ContentRecord?, thumb: ContentRecord?, audience: TagExpression, dueAt: Timestamp, order: OrderNumber,
        expiresAt: Timestamp?, completedAt: Timestamp? = nil, endOrder: OrderNumber? = nil, recalledAt: Timestamp? = nil,
        trackingID: NotificationID? = nil, isRefused: Bool = false
    ) {
        self.id = id
        self.sender = sender
        self.senderName = senderName
        self.kind = kind
        self.style = style
        self.words = words
        self.content = content
        self.thumb = thumb
        self.audience = audience
        self.dueAt = dueAt
        self.order = order
        self.expiresAt = expiresAt
        self.completedAt = completedAt
        self.endOrder = endOrder
        self.recalledAt = recalledAt
        self.trackingID = trackingID
        self.isRefused = isRefused
    }
}

/// What a notification says.
public struct NotificationWords: Hashable, Sendable {
    public var title: String?
    public var subtitle: String?
    public var message: String
    public var altText: String?

    /// Creates words.
    public init(title: String? = nil, subtitle: String? = nil, message: String, altText: String? = nil) {
        self.title = title
        self.subtitle = subtitle
        self.message = message
        self.altText = altText
    }
}
