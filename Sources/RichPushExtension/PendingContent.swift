#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushPlatform
    import UserNotifications

    /// A push that the system waits for. Enriched content, expiry and original race; the first is shown and the others dropped.
    ///
    /// `@unchecked` is safe: the system's content is immutable, and the handler is called once, by the first path that takes it.
    final class PendingContent: @unchecked Sendable {
        private let original: UNNotificationContent
        private let handler: OneShot<UNNotificationContent>
        private let delivered = DispatchSemaphore(value: 0)

        init(original: UNNotificationContent, handler: @escaping (UNNotificationContent) -> Void) {
            self.original = original
            self.handler = OneShot(handler)
        }

        /// Hands over edited content; the original where it cannot be edited.
        func deliver(_ content: NotificationContent) {
            defer { delivered.signal() }
            guard let edited = original.mutableCopy() as? UNMutableNotificationContent else { return handler(original) }
            try? content.write(to: edited)
            handler(edited)
        }

        /// Waits for a delivery in progress; at `end` the original is delivered.
        func waitOrDeliverOriginal(until end: DispatchTime) {
            if delivered.wait(timeout: end) == .timedOut { handler(original) }
        }
    }

    /// The pushes that the system waits for.
    ///
    /// `@unchecked` is safe: what changes is only touched inside the lock.
    final class PendingContents: @unchecked Sendable {
        private let lock = NSLock()
        private var contents: [PendingContent] = []

        var all: [PendingContent] { lock.withLock { contents } }

        func add(_ content: PendingContent) { lock.withLock { contents.append(content) } }

        func remove(_ content: PendingContent) { lock.withLock { contents.removeAll { $0 === content } } }
    }
#endif
