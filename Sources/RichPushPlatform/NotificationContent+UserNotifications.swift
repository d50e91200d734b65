#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import UserNotifications

    extension NotificationContent {
        /// What the system shows or is about to show.
        package init(_ content: UNNotificationContent) {
            self.init(
                title: content.title, subtitle: content.subtitle, body: content.body,
                thread: content.threadIdentifier.isEmpty ? nil : content.threadIdentifier,
                category: content.categoryIdentifier.isEmpty ? nil : content.categoryIdentifier,
                badge: content.badge?.intValue, isNeutral: content.userInfo[PushEnvelope.neutralKey] as? Bool == true)
        }

        /// Replaces everything in a content of the system by this content. What is absent here is removed, since it may be another
        /// user's. An attachment that the system refuses is left out, unless `requiresAttachment`; then the system's error is thrown.
        package func write(to content: UNMutableNotificationContent, requiresAttachment: Bool = false) throws {
            content.title = title
            content.subtitle = subtitle
            content.body = body
            content.threadIdentifier = thread ?? ""
            content.categoryIdentifier = category ?? ""
            content.badge = badge.map { NSNumber(value: $0) }
            content.attachments = []
            content.userInfo[PushEnvelope.neutralKey] = isNeutral ? true : nil
            // A sender's own sound may reveal whom it is for, so the default sound replaces it.
            if isNeutral, content.sound != nil { content.sound = .default }
            guard let attachment else { return }
            do {
                content.attachments = [
                    try UNNotificationAttachment(identifier: "richPush", url: attachment.file, options: nil)
                ]
                if let altText = attachment.altText { content.userInfo[PushEnvelope.altTextKey] = altText }
            } catch {
                if requiresAttachment { throw error }
                // The copy was for the system, which did not accept it.
                try? FileManager.default.removeItem(at: attachment.file)
            }
        }
    }

    extension PushEnvelope {
        /// The keys of a push that rich push reads.
        private static var keys: [String] { ["aps", "richId", "richType", "richMessage", SubjectMark.key] }

        /// Reads what the system hands over as the payload of a push; `nil` when it is not a rich push.
        package init?(userInfo: [AnyHashable: Any]) {
            var payload: [String: Any] = [:]
            for key in Self.keys { payload[key] = userInfo[key] }
            guard JSONSerialization.isValidJSONObject(payload),
                let data = try? JSONSerialization.data(withJSONObject: payload)
            else { return nil }
            self.init(payload: data)
        }

        /// What a notification made on this device carries, so that a tap on it is read like one on a push.
        package static func userInfo(id: RichID, kind: ContentKind, altText: String?) -> [AnyHashable: Any] {
            var userInfo: [AnyHashable: Any] = ["richId": "\(id)", "richType": kind.rawValue]
            userInfo[altTextKey] = altText
            return userInfo
        }

        /// Where a notification carries the description of its picture.
        package static let altTextKey = "richAltText"

        /// Marks a notification whose text was replaced because it may be another user's.
        package static let neutralKey = "richNeutral"
    }

    /// A completion block of the system that is called once, although expiry and success race.
    ///
    /// The blocks are not `Sendable` in every version of the system's headers. `@unchecked` is safe here: the block is taken out inside
    /// the lock, so only one thread calls it. A caller that needs a certain thread calls it on that thread.
    package final class OneShot<Value>: @unchecked Sendable {
        private let lock = NSLock()
        private var block: ((Value) -> Void)?

        package init(_ block: @escaping (Value) -> Void) { self.block = block }

        /// Calls the block unless that has happened.
        package func callAsFunction(_ value: Value) {
            lock.lock()
            let block = block
            self.block = nil
            lock.unlock()
            block?(value)
        }
    }

    extension OneShot where Value == Void {
        package func callAsFunction() { self(()) }
    }
#endif
