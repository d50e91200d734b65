import RichPushModel

extension PhoneSnapshot {
    /// One entry of the notification centre.
    public struct Notice: Hashable, Sendable, Codable {
        /// The system's identifier; a later notification with the same one replaces this.
        public var id: String
        /// The rich notification behind it, if the app can tell.
        public var richID: RichID?
        public var title: String
        public var subtitle: String?
        public var body: String
        /// Entries with the same thread form a group.
        public var thread: String?
        public var at: Timestamp
        /// Whether a picture, sound or video came with it; ask the phone for the bytes.
        public var hasAttachment: Bool
        /// The type of the attachment.
        public var mediaType: String?
        /// The attachment in words.
        public var altText: String?
        /// The buttons of its category, empty while previews are hidden.
        public var actions: [Action]
        /// The phone is locked and previews are shown only when unlocked: the texts here are the placeholder's.
        public var previewHidden: Bool

        /// A button.
        public struct Action: Hashable, Sendable, Codable {
            public var id: String
            public var title: String
            /// True for a field in which the user answers; absent for a plain button.
            public var takesText: Bool?

            /// Creates a button.
            public init(id: String, title: String, takesText: Bool? = nil) {
                self.id = id
                self.title = title
                self.takesText = takesText
            }
        }

        /// Creates an entry without attachment.
        public init(
            id: String, richID: RichID?, title: String, subtitle: String? = nil, body: String, thread: String? = nil,
            at: Timestamp, actions: [Action] = []
        ) {
            self.id = id
            self.richID = richID
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.thread = thread
            self.at = at
            self.actions = actions
            hasAttachment = false
            previewHidden = false
        }

        private enum CodingKeys: String, CodingKey {
            case id, richID = "richId", title, subtitle, body, thread, at, hasAttachment, mediaType, altText, actions
            case previewHidden
        }
    }

    /// The question that the app asks instead of a banner while it is in the foreground.
    public struct Alert: Hashable, Sendable, Codable {
        public var richID: RichID
        /// Absent when the sender gave none.
        public var title: String?
        public var subtitle: String?
        public var message: String?

        /// Creates a question.
        public init(richID: RichID, title: String? = nil, subtitle: String? = nil, message: String?) {
            self.richID = richID
            self.title = title
            self.subtitle = subtitle
            self.message = message
        }

        private enum CodingKeys: String, CodingKey { case richID = "richId", title, subtitle, message }
    }
}
