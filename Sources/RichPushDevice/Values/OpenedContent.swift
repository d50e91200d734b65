import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a content screen shows: never blank, whatever went wrong.
public struct OpenedContent: Hashable, Sendable, Codable {
    /// How far it is.
    public enum State: Hashable, Sendable, Codable {
        case loading
        case ready
        /// Not downloaded yet; opening it again tries again.
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
    /// Whether it came end-to-end encrypted: nobody between its sender and this device could read it. It does not say who
    /// sealed it.
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
