import RichPushModel

/// The system's notification centre.
public protocol NotificationPresenting: Sendable {
    /// Shows a notification made on the device; one with the same identifier is replaced.
    func present(_ notification: LocalNotification) async throws(PresentationError)
    /// Removes shown notifications of a rich notification, whether the app or the system showed them.
    func removeDelivered(_ identifiers: [String]) async
    func removeAllDelivered() async
    /// What is in the notification centre now.
    func delivered() async -> [DeliveredNotification]
    /// Sets the number on the icon; 0 removes it.
    func setBadge(_ count: Int) async
    /// Adds the categories of rich push to those of the host app.
    func register(_ categories: [NotificationCategory]) async
    func permission() async -> NotificationPermission
    /// Asks the user, once in the life of an installation; later it only returns what was answered.
    func requestPermission(provisional: Bool) async -> NotificationPermission
}

/// Why a notification was not shown.
public enum PresentationError: Error, Hashable, Sendable, Codable {
    case notPermitted
    /// The attachment was refused; the same notification without it may pass.
    case badAttachment
    case failed
}

/// Whether the app may show notifications.
public enum NotificationPermission: String, Sendable, Codable {
    case notDetermined, denied, provisional, granted
}

/// A set of buttons.
public struct NotificationCategory: Hashable, Sendable, Codable {
    public var identifier: String
    /// Identifier and title, in order.
    public var actions: [Action]
    /// Whether the app is notified of a dismissal.
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

/// The app's screens. A main-actor type may conform.
public protocol ContentRouting: Sendable {
    /// Shows a content; called again for the same id when loading has ended.
    func show(_ content: OpenedContent) async
    /// Offers OK / More while the app is in the foreground.
    func offer(_ offer: ContentOffer) async
}

/// The question that the app asks in the foreground instead of a notification.
public struct ContentOffer: Hashable, Sendable, Codable {
    public var richID: RichID
    /// Absent when the sender gave none: an app then uses a title of its own.
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

/// What the app knows of its environment.
///
/// It does not say whether protected data can be read: the stores report that themselves (`StorageError.locked`), at the moment of the
/// access.
public protocol AppEnvironment: PowerState {
    /// Whether the app is in front of the user.
    func appState() async -> AppState
    /// Facts for the server.
    func installationFacts() async -> InstallationFacts
}

/// The state of the app.
public enum AppState: String, Sendable, Codable {
    case active, inactive, background
}

/// What the server learns of an installation, next to its token.
public struct InstallationFacts: Hashable, Sendable, Codable {
    /// The push service that gives the device its token.
    public var platform: Platform
    /// The bundle id, which is the APNs topic; on another platform the name of the app there, which the server does not get.
    public var bundleID: String
    /// `sandbox` or `production`, as the app is signed; absent means the hub's default.
    public var environment: String?
    /// A BCP 47 language tag.
    public var locale: String?
    /// The languages of the user, the best first: language tags, of which the server gets eight.
    public var languages: [String]
    /// For example `2.1 (417)`.
    public var appVersion: String?
    /// For example `iOS 18.2`.
    public var systemVersion: String?
    /// For example `Europe/Stockholm`.
    public var timeZone: String?
    /// What the app was built with, such as `service-extension`; the engine adds what it is configured for.
    public var capabilities: [String]

    /// Creates facts.
    public init(
        bundleID: String, environment: String? = nil, locale: String? = nil, languages: [String] = [],
        appVersion: String? = nil, systemVersion: String? = nil, timeZone: String? = nil, capabilities: [String] = [],
        platform: Platform = .apns
    ) {
        self.platform = platform
        self.bundleID = bundleID
        self.environment = environment
        self.locale = locale
        self.languages = languages
        self.appVersion = appVersion
        self.systemVersion = systemVersion
        self.timeZone = timeZone
        self.capabilities = capabilities
    }
}

/// Asks the system to run the app for a moment later on, without the user.
public protocol BackgroundScheduling: Sendable {
    /// Requests a call of `RichPushEngine.handleBackgroundRefresh` after `pause` at the earliest; the system decides when, and whether
    /// at all. A new request replaces the open one.
    func scheduleRefresh(after pause: Duration) async
}

/// The Live Activities of the app, as the system has them.
public protocol ActivityHosting: Sendable {
    /// All activities of the server's that are on the device, and every token that the system has given. A token that the system has not
    /// given in this run of the app is left out.
    func report() async -> ActivityReport
    /// The rich notifications whose pictures the activities on the device show.
    func pictures() async -> Set<RichID>
    /// Ends activities and removes them from the display at once. `nil` means every one of the server's on the device, also those that
    /// have ended and are still shown.
    func end(_ activities: [Int64]?) async
    /// Calls `changed` for each event of an activity or a token, until the task is cancelled. Returns at once where the app itself calls
    /// `RichPushEngine.activitiesChanged`.
    func observe(_ changed: @escaping @Sendable () async -> Void) async
}

extension ActivityHosting {
    public func pictures() async -> Set<RichID> { [] }
    public func observe(_ changed: @escaping @Sendable () async -> Void) async {}
}

/// Asks the system for a device token. The answer comes later, to `RichPushEngine.didRegister(token:)`; asking needs no
/// permission and is done at every launch.
public protocol PushRegistering: Sendable {
    func registerForPush() async
}
