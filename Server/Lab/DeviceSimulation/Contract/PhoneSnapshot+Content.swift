import RichPushModel

extension PhoneSnapshot {
    /// The content screen.
    public struct Content: Hashable, Sendable, Codable {
        /// How far the screen is.
        public enum State: String, Sendable, Codable, CaseIterable {
            /// Being fetched.
            case loading
            /// On the phone and checked.
            case ready
            /// Not downloaded yet, and it cannot be now; opening it again tries again.
            case missing
            /// Refused: gone, not allowed, or not what the server promised.
            case failed
        }

        public var richID: RichID
        public var kind: ContentKind
        public var title: String?
        public var subtitle: String?
        public var message: String
        public var altText: String?
        /// The name the sender gave the content, for display only.
        public var fileName: String?
        public var mediaType: String?
        /// Whether the phone holds bytes to show; ask it for them.
        public var hasMedia: Bool
        /// For kind `url`; opened only after the user confirms.
        public var link: String?
        public var coupon: Coupon?
        public var state: State
        /// True when its sender sealed it for this phone; absent for what the server can read.
        public var sealed: Bool?
        /// Why it is not ready, in words for the user.
        public var error: String?

        /// Creates a screen.
        public init(richID: RichID, kind: ContentKind, title: String? = nil, message: String = "", state: State) {
            self.richID = richID
            self.kind = kind
            self.title = title
            self.message = message
            self.state = state
            hasMedia = false
        }

        private enum CodingKeys: String, CodingKey {
            case richID = "richId", kind, title, subtitle, message, altText, fileName, mediaType, hasMedia, link, coupon, state
            case sealed, error
        }
    }

    /// One line of the inbox.
    public struct InboxItem: Hashable, Sendable, Codable {
        public var id: RichID
        public var kind: ContentKind
        public var title: String?
        public var message: String
        public var sender: String?
        public var sentAt: Timestamp
        public var read: Bool
        /// Whether its content is on the phone, so that it opens without a network.
        public var downloaded: Bool

        /// Creates a line.
        public init(entry: InboxEntry, downloaded: Bool) {
            id = entry.id
            kind = entry.kind
            title = entry.title
            message = entry.message
            sender = entry.sender
            sentAt = entry.sentAt
            read = entry.read
            self.downloaded = downloaded
        }
    }
}
