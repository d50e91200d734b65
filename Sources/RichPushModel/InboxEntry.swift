/// One rich notification as its receiver sees it: an element of the inbox, and the details that a phone fetches.
public struct InboxEntry: Hashable, Sendable, Codable {
    /// The number that the push carried.
    public var id: RichID
    /// How to open it.
    public var kind: ContentKind
    public var title: String?
    public var subtitle: String?
    public var message: String
    /// Words for those who cannot see or hear the content.
    public var altText: String?
    /// The name of the user who sent it; absent when a backend sent it with a key.
    public var sender: String?
    /// When it was due.
    public var sentAt: Timestamp
    /// When it stops being of use; absent means never.
    public var expiresAt: Timestamp?
    /// Whether this user has opened it, on any device.
    public var read: Bool
    /// The content to fetch; absent for kind `text`.
    public var content: ContentDescriptor?
    /// The small variant for the service extension, if the sender stored one or the content itself is small enough.
    public var thumb: ContentDescriptor?

    /// Creates an entry.
    public init(
        id: RichID, kind: ContentKind, title: String? = nil, subtitle: String? = nil, message: String, altText: String? = nil,
        sender: String? = nil, sentAt: Timestamp, expiresAt: Timestamp? = nil, read: Bool = false,
        content: ContentDescriptor? = nil, thumb: ContentDescriptor? = nil
    ) {
        self.id = id
        self.kind = kind
        self.title = title
        self.subtitle = subtitle
        self.message = message
        self.altText = altText
        self.sender = sender
        self.sentAt = sentAt
        self.expiresAt = expiresAt
        self.read = read
        self.content = content
        self.thumb = thumb
    }
}

/// A page of the inbox, newest first.
public struct InboxPage: Hashable, Sendable, Codable {
    public var notifications: [InboxEntry]
    /// How many of this user's notifications are unread in all, at most 999; the badge.
    public var unread: Int
    /// Pass it as `before` to read on towards older ones; absent on the last page.
    public var next: String?

    /// Creates a page.
    public init(notifications: [InboxEntry], unread: Int, next: String? = nil) {
        self.notifications = notifications
        self.unread = unread
        self.next = next
    }
}
