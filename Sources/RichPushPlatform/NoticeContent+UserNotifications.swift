#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import UserNotifications

    extension NoticeContent {
        /// What the system shows or is about to show.
        package init(_ content: UNNotificationContent) {
            self.init(
                title: content.title, subtitle: content.subtitle, body: content.body,
                thread: content.threadIdentifier.isEmpty ? nil : content.threadIdentifier,
                category: content.categoryIdentifier.isEmpty ? nil : content.categoryIdentifier,
                badge: content.badge?.intValue, isNeutral: content.userInfo[PushEnvelope.neutralKey] as? Bool == true)
        }

        /// Writes what it says into a content for the system, in place of all that stands there: what is absent here is taken away,
        /// since it may be another user's. An attachment that the system refuses is left out, unless `requiresAttachment`; then
        /// the system's error is thrown.
        package func write(to content: UNMutableNotificationContent, requiresAttachment: Bool = false) throws {
            content.title = title
            content.subtitle = subtitle
            content.body = body
            content.threadIdentifier = thread ?? ""
            content.categoryIdentifier = category ?? ""
            content.badge = badge.map { NSNumber(value: $0) }
            content.attachments = []
            content.userInfo[PushEnvelope.neutralKey] = isNeutral ? true : nil
            // A sound of the sender's own may tell whose it is, so there is the usual one if there was any.
            if isNeutral, content.sound != nil { content.sound = .default }
            guard let attachment else { return }
            do {
                content.attachments = [
                    try UNNotificationAttachment(identifier: "richPush", url: attachment.file, options: nil)
                ]
                if let altText = attachment.altText { content.userInfo[PushEnvelope.altTextKey] = altText }
            } catch {
                if requiresAttachment { throw error }
                // The copy was for the system, which did not take it.
                try? FileManager.default.removeItem(at: attachment.file)
            }
        }
    }
#endif
