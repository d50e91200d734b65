/// One rich notification as its receiver sees it: an element of the inbox, and the details that a phone fetches.
public struct InboxEntry: Hashable, Sendable, Codable {
    /// The number that the push carried.
    public var id: RichID
    /// How to open it.
    public var kind: ContentKind
    public var title: String?
    public var subtitle: String?
    public var message: String
    /// A description of the content for users who cannot see or hear it.
    public var altText: String?
    /// The language of the translation that these texts and contents are of; absent for those that the send has besides.
    public var language: String?
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

/// What a phone reports about a rich notification. "Displayed" is missing because no phone can know it.
public struct Receipt: Hashable, Sendable, Codable {
    /// What happened.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The extension or the background handler got the push.
        case delivered
        /// The content arrived and passed its checks.
        case fetched
        /// The user opened it.
        case opened
        /// The user chose the action named in `action`.
        case action
        /// The user removed the notification.
        case dismissed
        /// The phone could not show the content, for the reason in `action`.
        case failed
    }

    public var richID: RichID
    public var kind: Kind
    /// The action id for `action`, a short reason for `failed`, else absent. At most 64 of `A-Z a-z 0-9 . _ -`.
    public var action: String?
    /// When it happened, by the phone's clock.
    public var at: Timestamp

    /// Creates a receipt.
    public init(richID: RichID, kind: Kind, action: String? = nil, at: Timestamp) {
        self.richID = richID
        self.kind = kind
        self.action = action
        self.at = at
    }

    private enum CodingKeys: String, CodingKey { case richID = "id", kind, action, at }
}

/// The body of `POST /api/v1/receipts`: at most 100 receipts. Sending one again is harmless: a receipt counts once for an installation,
/// notification, kind and action.
public struct ReceiptBatch: Hashable, Sendable, Codable {
    public var receipts: [Receipt]

    /// Creates a batch.
    public init(receipts: [Receipt]) { self.receipts = receipts }
}

/// The body of `POST /api/v1/notifications/{id}/replies`: what a receiver answers to the sender of a notification.
public struct Reply: Hashable, Sendable, Codable {
    /// An id made by the phone, 1 to 64 of `A-Z a-z 0-9 _ -`: the same reply sent twice is delivered once.
    public var id: String
    /// 1 to 2,000 characters.
    public var text: String

    /// Creates a reply.
    public init(id: String, text: String) {
        self.id = id
        self.text = text
    }
}
