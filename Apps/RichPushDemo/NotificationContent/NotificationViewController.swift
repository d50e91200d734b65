import RichPushContentExtension

/// The picture of a notification that the user pressed long.
final class NotificationViewController: RichPushContentViewController {}
