import RichPushDevice
import RichPushExtension

/// `@unchecked` is safe: the class adds nothing that changes.
final class NotificationService: RichPushNotificationService, @unchecked Sendable {
    override class var configuration: RichPushConfiguration { .demo }
}
