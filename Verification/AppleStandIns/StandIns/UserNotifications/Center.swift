import Foundation

open class UNNotificationAction: NSObject {
    public let identifier: String
    public let title: String
    public let options: UNNotificationActionOptions

    public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.identifier = identifier
        self.title = title
        self.options = options
    }
}

open class UNTextInputNotificationAction: UNNotificationAction {
    public let textInputButtonTitle: String
    public let textInputPlaceholder: String

    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
        textInputPlaceholder: String
    ) {
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
        super.init(identifier: identifier, title: title, options: options)
    }
}

open class UNNotificationCategory: NSObject {
    public let identifier: String
    public let actions: [UNNotificationAction]
    public let hiddenPreviewsBodyPlaceholder: String
    public let options: UNNotificationCategoryOptions

    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder
        self.options = options
    }
}

open class UNNotificationSettings: NSObject {
    public let authorizationStatus: UNAuthorizationStatus
    init(_ status: UNAuthorizationStatus) { authorizationStatus = status }
}

#if SENDABLE_HANDLERS
    public typealias PresentationHandler = @Sendable (UNNotificationPresentationOptions) -> Void
    public typealias ResponseHandler = @Sendable () -> Void
#else
    public typealias PresentationHandler = (UNNotificationPresentationOptions) -> Void
    public typealias ResponseHandler = () -> Void
#endif

/// On Apple's systems all its functions are optional: one with a misspelt name is simply never called. The strict reading asks
/// for each, so that the compiler finds the misspelling.
public protocol UNUserNotificationCenterDelegate: AnyObject, NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping PresentationHandler)
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping ResponseHandler)
}

#if !STRICT
    extension UNUserNotificationCenterDelegate {
        public func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping PresentationHandler
        ) { completionHandler([]) }
        public func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping ResponseHandler
        ) { completionHandler() }
    }
#endif

open class UNUserNotificationCenter: NSObject {
    // `nonisolated(unsafe)` is safe: it is never changed, and the class locks what changes.
    nonisolated(unsafe) static let shared = UNUserNotificationCenter()

    open class func current() -> UNUserNotificationCenter { shared }

    let lock = NSLock()
    var state = FakeCenterState()

    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { state.delegate } }
        set { lock.withLock { state.delegate = newValue } }
    }

    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        lock.withLock {
            state.asked.append(options)
            if state.status == .notDetermined { state.status = options.contains(.provisional) ? .provisional : .authorized }
            return state.status != .denied
        }
    }

    open func notificationSettings() async -> UNNotificationSettings {
        UNNotificationSettings(lock.withLock { state.status })
    }

    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        lock.withLock { state.categories = categories }
    }

    open func notificationCategories() async -> Set<UNNotificationCategory> { lock.withLock { state.categories } }

    open func add(_ request: UNNotificationRequest) async throws {
        try lock.withLock {
            if state.status == .denied { throw UNError(.notificationsNotAllowed) }
            if state.refusesAttachments, !request.content.attachments.isEmpty { throw UNError(.attachmentCorrupt) }
            for attachment in request.content.attachments { try attachment.moveIntoStore() }
            state.added.append(request)
            state.shown.removeAll { $0.identifier == request.identifier }
            state.shown.append(request)
        }
    }

    open func setBadgeCount(_ newBadgeCount: Int) async throws { lock.withLock { state.badge = newBadgeCount } }

    open func deliveredNotifications() async -> [UNNotification] {
        lock.withLock { state.shown.map { UNNotification(fake: $0) } }
    }

    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        lock.withLock { state.shown.removeAll { identifiers.contains($0.identifier) } }
    }

    open func removeAllDeliveredNotifications() { lock.withLock { state.shown = [] } }
}

open class UNNotificationServiceExtension: NSObject {
    public override init() { super.init() }

    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func serviceExtensionTimeWillExpire() {}
}
