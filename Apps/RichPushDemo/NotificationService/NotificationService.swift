import RichPushDevice
import RichPushExtension

/// The texts and pictures of pushes that the system shows.
final class NotificationService: RichPushNotificationService {
    override class var configuration: RichPushConfiguration { .demo }
}
