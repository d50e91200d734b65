import Foundation

// In the strict reading no class may cross to another actor; `SENDABLE_CLASSES` is the other reading.
#if SENDABLE_CLASSES
    extension UNNotificationContent: @unchecked Sendable {}
    extension UNNotificationRequest: @unchecked Sendable {}
    extension UNNotification: @unchecked Sendable {}
    extension UNNotificationResponse: @unchecked Sendable {}
    extension UNUserNotificationCenter: @unchecked Sendable {}
#endif

open class UNNotificationSound: NSObject {
    public class var `default`: UNNotificationSound { UNNotificationSound(fake: nil) }
    /// The file of a sender's own sound.
    public let fakeFile: String?
    public init(fake file: String?) { fakeFile = file }
}

open class UNNotificationAttachment: NSObject {
    static let limits: [String: Int64] = [
        "png": 10 << 20, "jpg": 10 << 20, "gif": 10 << 20, "mp3": 5 << 20, "m4a": 5 << 20, "wav": 5 << 20, "aiff": 5 << 20,
        "mp4": 50 << 20, "mpg": 50 << 20,
    ]

    public let identifier: String
    /// After the request was added this is in the system's own store.
    public internal(set) var url: URL

    public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        self.identifier = identifier
        self.url = url
        guard url.isFileURL, let about = try? FileManager.default.attributesOfItem(atPath: url.path) else {
            throw UNError(.attachmentInvalidURL)
        }
        guard let limit = Self.limits[url.pathExtension] else { throw UNError(.attachmentUnrecognizedType) }
        guard (about[.size] as? Int64 ?? .max) <= limit else { throw UNError(.attachmentInvalidFileSize) }
    }

    /// The system moves the file away from the caller.
    func moveIntoStore() throws {
        let store = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            .appendingPathExtension(url.pathExtension)
        do {
            try FileManager.default.moveItem(at: url, to: store)
        } catch {
            throw UNError(.attachmentMoveIntoDataStoreFailed)
        }
        url = store
    }
}

open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
    struct Values {
        var title = "", subtitle = "", body = "", category = "", thread = ""
        var userInfo: [AnyHashable: Any] = [:]
        var attachments: [UNNotificationAttachment] = []
        var badge: NSNumber?
        var sound: UNNotificationSound?
    }

    var values = Values()

    public override init() { super.init() }

    open var title: String { values.title }
    open var subtitle: String { values.subtitle }
    open var body: String { values.body }
    open var categoryIdentifier: String { values.category }
    open var threadIdentifier: String { values.thread }
    open var userInfo: [AnyHashable: Any] { values.userInfo }
    open var attachments: [UNNotificationAttachment] { values.attachments }
    open var badge: NSNumber? { values.badge }
    open var sound: UNNotificationSound? { values.sound }

    open func copy(with zone: NSZone? = nil) -> Any { filled(UNNotificationContent()) }
    open func mutableCopy(with zone: NSZone? = nil) -> Any { filled(UNMutableNotificationContent()) }

    private func filled(_ content: UNNotificationContent) -> UNNotificationContent {
        content.values = values
        return content
    }
}

open class UNMutableNotificationContent: UNNotificationContent {
    open override var title: String {
        get { values.title }
        set { values.title = newValue }
    }
    open override var subtitle: String {
        get { values.subtitle }
        set { values.subtitle = newValue }
    }
    open override var body: String {
        get { values.body }
        set { values.body = newValue }
    }
    open override var categoryIdentifier: String {
        get { values.category }
        set { values.category = newValue }
    }
    open override var threadIdentifier: String {
        get { values.thread }
        set { values.thread = newValue }
    }
    open override var userInfo: [AnyHashable: Any] {
        get { values.userInfo }
        set { values.userInfo = newValue }
    }
    open override var attachments: [UNNotificationAttachment] {
        get { values.attachments }
        set { values.attachments = newValue }
    }
    open override var badge: NSNumber? {
        get { values.badge }
        set { values.badge = newValue }
    }
    open override var sound: UNNotificationSound? {
        get { values.sound }
        set { values.sound = newValue }
    }
}

open class UNNotificationTrigger: NSObject {}

open class UNNotificationRequest: NSObject {
    public let identifier: String
    public let content: UNNotificationContent
    public let trigger: UNNotificationTrigger?

    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.copy() as! UNNotificationContent
        self.trigger = trigger
    }
}

open class UNNotification: NSObject {
    public let request: UNNotificationRequest
    public let date = Date()
    /// Only the system makes one; here a test does.
    public init(fake request: UNNotificationRequest) { self.request = request }
}

open class UNNotificationResponse: NSObject {
    public let notification: UNNotification
    public let actionIdentifier: String
    /// As above.
    public init(fake notification: UNNotification, action: String) {
        self.notification = notification
        actionIdentifier = action
    }
}

open class UNTextInputNotificationResponse: UNNotificationResponse {
    public let userText: String

    /// As above.
    public init(fake notification: UNNotification, action: String, text: String) {
        userText = text
        super.init(fake: notification, action: action)
    }
}
