import RichPushModel

/// The app's screens. A main-actor type may conform.
public protocol ContentRouting: Sendable {
    /// Shows a content; called again for the same id as it goes from loading to its end.
    func show(_ content: OpenedContent) async
    /// Offers OK / More while the app is in the foreground.
    func offer(_ offer: ContentOffer) async
}

/// The question that the app asks in the foreground instead of a notification.
public struct ContentOffer: Hashable, Sendable, Codable {
    public var richID: RichID
    /// Absent when the sender gave none: an app then says who asks in its own words.
    public var title: String?
    public var subtitle: String?
    public var message: String

    /// Creates a question.
    public init(richID: RichID, title: String?, subtitle: String? = nil, message: String) {
        self.richID = richID
        self.title = title
        self.subtitle = subtitle
        self.message = message
    }
}
