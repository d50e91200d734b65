import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a notification says, without any system type: what the service extension gets, edits and hands back.
public struct NoticeContent: Hashable, Sendable, Codable {
    public var title: String
    public var subtitle: String
    public var body: String
    public var thread: String?
    public var category: String?
    /// Absolute; absent leaves the icon as it is.
    public var badge: Int?
    public var attachment: NoticeAttachment?
    /// Whether it stands in for words that may be another's. The mark travels with the notification, so that each process
    /// recognises it whatever language it speaks.
    public var isNeutral: Bool

    /// Creates content; empty texts are not shown.
    public init(
        title: String = "", subtitle: String = "", body: String, thread: String? = nil, category: String? = nil,
        badge: Int? = nil, attachment: NoticeAttachment? = nil, isNeutral: Bool = false
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.thread = thread
        self.category = category
        self.badge = badge
        self.attachment = attachment
        self.isNeutral = isNeutral
    }

    /// The same with nothing of whom it is for: these words, and what the system needs to show the buttons.
    func neutral(_ text: String) -> NoticeContent { NoticeContent(body: text, category: category, isNeutral: true) }

    /// Whether it is marked as saying nothing of anybody, or shows these words and nothing else, as a sender's neutral push does.
    func saysOnly(_ text: String) -> Bool {
        isNeutral || title.isEmpty && subtitle.isEmpty && body == text && attachment == nil
    }
}

/// A file for the system to show with a notification. The system moves it away, so it is a copy of the cached one.
public struct NoticeAttachment: Hashable, Sendable, Codable {
    public var file: URL
    public var mediaType: String
    /// Words for those who cannot see or hear it.
    public var altText: String?

    /// Describes a file.
    public init(file: URL, mediaType: String, altText: String?) {
        self.file = file
        self.mediaType = mediaType
        self.altText = altText
    }
}

/// A notification that the app shows itself.
public struct LocalNotice: Hashable, Sendable, Codable {
    /// The same for every showing of a rich notification, so that a repeat replaces.
    public var identifier: String
    public var richID: RichID
    public var kind: ContentKind
    public var content: NoticeContent

    /// Creates a notification.
    public init(identifier: String, richID: RichID, kind: ContentKind, content: NoticeContent) {
        self.identifier = identifier
        self.richID = richID
        self.kind = kind
        self.content = content
    }
}

/// A notification in the notification centre.
public struct DeliveredNotice: Hashable, Sendable, Codable {
    public var identifier: String
    /// The rich notification behind it, if any.
    public var richID: RichID?

    /// Describes a notification.
    public init(identifier: String, richID: RichID?) {
        self.identifier = identifier
        self.richID = richID
    }
}

/// What the user did with a notification.
public struct NoticeResponse: Hashable, Sendable, Codable {
    /// How.
    public enum Action: Hashable, Sendable, Codable {
        /// Tapped it.
        case open
        /// Pressed the button with this identifier.
        case button(String)
        /// Answered it with these words.
        case reply(String)
        /// Removed it.
        case dismiss
    }

    public var identifier: String
    /// The rich notification behind it.
    public var richID: RichID
    public var action: Action
    /// What the push said that it carries, if that is known: an answer to what is sealed is not sent in clear.
    public var kind: ContentKind?

    /// Creates a response.
    public init(identifier: String, richID: RichID, action: Action, kind: ContentKind? = nil) {
        self.identifier = identifier
        self.richID = richID
        self.action = action
        self.kind = kind
    }
}

/// How the system shows a notification while the app is in the foreground.
public struct PresentationOptions: OptionSet, Hashable, Sendable, Codable {
    public let rawValue: Int

    /// Creates options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let banner = PresentationOptions(rawValue: 1)
    public static let list = PresentationOptions(rawValue: 2)
    public static let sound = PresentationOptions(rawValue: 4)
}
