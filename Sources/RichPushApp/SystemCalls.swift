#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UserNotifications

    /// A notification that the system is about to show over the app, without the system's types: those may not cross to another
    /// actor.
    struct PresentationCall: Sendable {
        let notice: ForegroundNotice
        let done: OneShot<UNNotificationPresentationOptions>

        init(_ notification: UNNotification, _ completion: @escaping (UNNotificationPresentationOptions) -> Void) {
            let request = notification.request
            let envelope = PushEnvelope(userInfo: request.content.userInfo)
            notice = ForegroundNotice(
                identifier: request.identifier, richID: envelope?.id, subject: envelope?.subject,
                content: NoticeContent(request.content))
            done = OneShot(completion)
        }
    }

    /// What the user did with a notification, as above; no response when the notification is not one of ours.
    struct ResponseCall: Sendable {
        let response: NoticeResponse?
        let done: OneShot<Void>

        init(_ response: UNNotificationResponse, _ completion: @escaping () -> Void) {
            let request = response.notification.request
            let text = (response as? UNTextInputNotificationResponse)?.userText
            let action = text.map(NoticeResponse.Action.reply) ?? Self.action(response.actionIdentifier)
            self.response = PushEnvelope(userInfo: request.content.userInfo).map {
                NoticeResponse(identifier: request.identifier, richID: $0.id, action: action, kind: $0.kind)
            }
            done = OneShot(completion)
        }

        private static func action(_ identifier: String) -> NoticeResponse.Action {
            switch identifier {
            case UNNotificationDefaultActionIdentifier: .open
            case UNNotificationDismissActionIdentifier: .dismiss
            default: .button(identifier)
            }
        }
    }
#endif
