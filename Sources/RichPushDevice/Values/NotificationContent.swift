import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The content of a notification, without any system type: what the service extension gets, edits and returns.
public struct NotificationContent: Hashable, Sendable, Codable {
    public var title: String
    public var subtitle: String
    public var body: String
    public var thread: String?
    public var category: String?
    /// Absolute; absent leaves the icon as it is.
    public var badge: Int?
    /// The sound that a push of data alone names, `default` for the usual one; without one its notification is silent. iOS reads the sound of
    /// a push itself.
    public var sound: String?
    public var attachment: NotificationAttachment?
    /// Whether it replaces text that may be another user's. The mark travels with the notification, so that each process recognises it
    /// in any language.
    public var isNeutral: Bool

    /// Creates content; empty texts are not shown.
    public init(
        title: String = "", subtitle: String = "", body: String, thread: String? = nil, category: String? = nil,
        badge: Int? = nil, sound: String? = nil, attachment: NotificationAttachment? = nil, isNeutral: Bool = false
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.thread = thread
        self.category = category
        self.badge = badge
        self.sound = sound
        self.attachment = attachment
        self.isNeutral = isNeutral
    }

    /// The same without anything of its user: this text, and what the system needs to show the buttons. The usual sound replaces the
    /// sender's own, which may reveal whom it is for.
    func neutral(_ text: String) -> NotificationContent {
        NotificationContent(body: text, category: category, sound: sound.map { _ in "default" }, isNeutral: true)
    }

    /// Whether it is marked as neutral, or shows this text and nothing else, as a sender's neutral push does.
    func saysOnly(_ text: String) -> Bool {
        isNeutral || title.isEmpty && subtitle.isEmpty && body == text && attachment == nil
    }
}

/// A file for the system to show with a notification. The system moves it away, so it is a copy of the cached one.
public struct NotificationAttachment: Hashable, Sendable, Codable {
    public var file: URL
    public var mediaType: String
    /// A description for users who cannot see or hear it.
    public var altText: String?

    /// Describes a file.
    public init(file: URL, mediaType: String, altText: String?) {
        self.file = file
        self.mediaType = mediaType
        self.altText = altText
    }
}

/// A notification that the app shows itself.
public struct LocalNotification: Hashable, Sendable, Codable {
    /// The same each time a rich notification is shown, so that showing it again replaces it.
    public var identifier: String
    public var richID: RichID
    public var kind: ContentKind
    public var content: NotificationContent

    /// Creates a notification.
    public init(identifier: String, richID: RichID, kind: ContentKind, content: NotificationContent) {
        self.identifier = identifier
        self.richID = richID
        self.kind = kind
        self.content = content
    }
}

/// A notification in the notification centre.
public struct DeliveredNotification: Hashable, Sendable, Codable {
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
public struct NotificationResponse: Hashable, Sendable, Codable {
    /// How.
    public enum Action: Hashable, Sendable, Codable {
        /// Tapped it.
        case open
        /// Pressed the button with this identifier.
        case button(String)
        /// Replied to it with this text.
        case reply(String)
        /// Removed it.
        case dismiss
    }

    public var identifier: String
    /// The rich notification behind it.
    public var richID: RichID
    public var action: Action
    /// The kind in the push, if known: a reply to sealed content is not sent in clear.
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

/// What a content screen shows: never blank, whatever went wrong.
public struct OpenedContent: Hashable, Sendable, Codable {
    /// The state of the content.
    public enum State: Hashable, Sendable, Codable {
        case loading
        case ready
        /// Not downloaded yet; opening it again retries.
        case missing(RichPushError)
        /// Refused for good.
        case failed(RichPushError)
    }

    public var richID: RichID
    public var kind: ContentKind
    public var title: String?
    public var subtitle: String?
    public var message: String
    public var altText: String?
    /// The name the sender gave the content, for display only and never a path.
    public var fileName: String?
    /// The checked bytes. The file has the ending of its type and, where it has a name, that name as far as a file may have it.
    public var content: CachedContent?
    /// For kind `url`: an https link, to be opened only after the user confirms.
    public var link: URL?
    /// For kind `coupon`.
    public var coupon: Coupon?
    /// Whether it came end-to-end encrypted: it was unreadable between its sender and this device. It does not say who sealed it.
    public var isSealed = false
    public var state: State

    /// Creates a screen of which nothing but the id is known.
    public init(richID: RichID, kind: ContentKind = .file, message: String = "", state: State) {
        self.richID = richID
        self.kind = kind
        self.message = message
        self.state = state
    }

    /// Creates a screen from what the server said.
    public init(entry: InboxEntry, state: State) {
        self.init(richID: entry.id, kind: entry.kind, message: entry.message, state: state)
        title = entry.title
        subtitle = entry.subtitle
        altText = entry.altText
        fileName = entry.content?.fileName
    }
}

/// A content that is on the device.
public struct CachedContent: Hashable, Sendable, Codable {
    /// It may be evicted at any time; pass a copy to code that moves files.
    public var file: URL
    public var mediaType: String
    public var byteCount: Int64

    /// Describes a file.
    public init(file: URL, mediaType: String, byteCount: Int64) {
        self.file = file
        self.mediaType = mediaType
        self.byteCount = byteCount
    }
}

/// A sender's name for a content, as the name of a file on the device. It is the only text from the network that becomes part of a
/// path, so only listed characters pass, and the file has a folder to itself (Reference/IOSClient.md#6).
enum DisplayFileName {
    /// Fits the 255 bytes of a file system with an ending.
    private static let longest = 120
    private static let marks = Set<Character>(" -_.,()+&")

    /// The name without separators, invisible characters and leading points, with the ending of what the content really is.
    static func cleaned(_ name: String?, mediaType: String) -> String {
        let format = MediaFormat(declared: mediaType)
        var text = String((name ?? "").map { isPlain($0) ? $0 : "_" })
        while text.utf8.count > longest { text.removeLast() }
        text = String(text.drop { $0 == "." || $0 == " " })
        while text.last == " " || text.last == "." { text.removeLast() }
        guard text.contains(where: { $0.isLetter || $0.isNumber }) else { return "content.\(format?.fileExtension ?? "bin")" }
        // An ending that means the same stays as the sender wrote it; any other is part of the name.
        if let format, MediaFormat(fileName: text) == format { return text }
        return "\(text).\(format?.fileExtension ?? "bin")"
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || marks.contains(character)
    }
}

/// What a device needs to know about a type of content.
extension MediaFormat {
    /// The format of a declared media type without its parameters.
    init?(declared: String) {
        self.init(rawValue: Self.essence(of: declared))
    }

    /// The ending under which the system recognises a file of this type. Names from the network are never used.
    var fileExtension: String {
        switch self {
        case .png: "png"
        case .jpeg: "jpg"
        case .gif: "gif"
        case .webp: "webp"
        case .heic: "heic"
        case .mp3: "mp3"
        case .m4a: "m4a"
        case .wav: "wav"
        case .aiff: "aiff"
        case .caf: "caf"
        case .mp4: "mp4"
        case .quickTime: "mov"
        case .mpeg: "mpg"
        case .pdf: "pdf"
        case .json: "json"
        case .uriList, .plainText: "txt"
        case .sealed: "sealed"
        }
    }

    /// Whether it is a video: the system shows only its beginning, and it is large.
    var isFilm: Bool { [.mp4, .quickTime, .mpeg].contains(self) }

    /// How large a file of this type the system takes as an attachment; `nil` for types it does not take
    /// (Reference/IOSClient.md#6).
    var attachmentLimit: Int64? {
        switch self {
        case .png, .jpeg, .gif: 10 << 20
        case .mp3, .m4a, .wav, .aiff: 5 << 20
        case .mp4, .mpeg: 50 << 20
        case .webp, .heic, .caf, .quickTime, .pdf, .json, .uriList, .plainText, .sealed: nil
        }
    }
}
