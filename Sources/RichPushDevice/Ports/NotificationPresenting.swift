/// The system's notification centre.
public protocol NotificationPresenting: Sendable {
    /// Shows a notification made on the device; one with the same identifier is replaced.
    func present(_ notice: LocalNotice) async throws(PresentationError)
    /// Removes shown notifications of a rich notification, whoever showed them.
    func removeDelivered(_ identifiers: [String]) async
    func removeAllDelivered() async
    /// What is in the notification centre now.
    func delivered() async -> [DeliveredNotice]
    /// Sets the number on the icon; 0 removes it.
    func setBadge(_ count: Int) async
    /// Adds the categories of rich push to those of the host app.
    func register(_ categories: [NoticeCategory]) async
    func permission() async -> NoticePermission
    /// Asks the user, once in the life of an installation; later it only returns what was answered.
    func requestPermission(provisional: Bool) async -> NoticePermission
}

/// Why a notification was not shown.
public enum PresentationError: Error, Hashable, Sendable, Codable {
    case notPermitted
    /// The attachment was refused; the same notice without it may pass.
    case badAttachment
    case failed
}

/// Whether the app may show notifications.
public enum NoticePermission: String, Sendable, Codable {
    case notDetermined, denied, provisional, granted
}

/// A set of buttons.
public struct NoticeCategory: Hashable, Sendable, Codable {
    public var identifier: String
    /// Identifier and title, in order.
    public var actions: [Action]
    /// Whether the app hears of a dismissal.
    public var reportsDismissal: Bool
    /// What a locked phone shows instead of the text while previews are hidden.
    public var hiddenPreviewText: String

    /// A button.
    public struct Action: Hashable, Sendable, Codable {
        public var identifier: String
        public var title: String
        /// Whether it opens a field for an answer, without the app, instead of bringing the app to the front.
        public var takesText: Bool

        /// Creates a button.
        public init(identifier: String, title: String, takesText: Bool = false) {
            self.identifier = identifier
            self.title = title
            self.takesText = takesText
        }
    }

    /// Creates a category.
    public init(identifier: String, actions: [Action], reportsDismissal: Bool, hiddenPreviewText: String) {
        self.identifier = identifier
        self.actions = actions
        self.reportsDismissal = reportsDismissal
        self.hiddenPreviewText = hiddenPreviewText
    }
}
