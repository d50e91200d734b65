import HubProtocol
import PushHub

extension PnsFeedback {
    /// What the protocol says of a target that got no push. Where its handle is not kept, the element is there and empty: readers of the
    /// files take it for granted.
    init(_ error: SendError, of notification: NotificationID) {
        let owner: Owner? =
            if let installation = error.installation {
                .installation(installation.text)
            } else {
                error.record.map { .registration($0.text) }
            }
        self.init(
            time: error.notedAt, systemError: error.outcome.wireName,
            platform: NotificationFormat(platform: error.platform)?.rawValue ?? error.platform.rawValue,
            handle: error.handle?.text ?? "", owner: owner, notificationID: notification.text)
    }
}
