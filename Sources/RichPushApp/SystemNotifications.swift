#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UserNotifications

    /// The system's notification centre. Only its async functions are called: a block written here would belong to the actor that
    /// it stands in, and the system calls blocks on a queue of its own (Reference/IOSClient.md#4).
    struct SystemNotifications: NotificationPresenting {
        private var center: UNUserNotificationCenter { UNUserNotificationCenter.current() }

        func present(_ notice: LocalNotice) async throws(PresentationError) {
            do {
                let content = UNMutableNotificationContent()
                let altText = notice.content.attachment?.altText
                content.userInfo = PushEnvelope.userInfo(id: notice.richID, kind: notice.kind, altText: altText)
                content.sound = .default
                try notice.content.write(to: content, requiresAttachment: true)
                try await center.add(UNNotificationRequest(identifier: notice.identifier, content: content, trigger: nil))
            } catch {
                throw Self.failure(error)
            }
        }

        private static func failure(_ error: any Error) -> PresentationError {
            switch (error as? UNError)?.code {
            case .notificationsNotAllowed: .notPermitted
            case .attachmentInvalidURL, .attachmentUnrecognizedType, .attachmentInvalidFileSize, .attachmentNotInDataStore,
                .attachmentMoveIntoDataStoreFailed, .attachmentCorrupt:
                .badAttachment
            default: .failed
            }
        }

        func removeDelivered(_ identifiers: [String]) async {
            center.removeDeliveredNotifications(withIdentifiers: identifiers)
        }

        func removeAllDelivered() async {
            let shown = await delivered().filter { $0.richID != nil }.map(\.identifier)
            center.removeDeliveredNotifications(withIdentifiers: shown)
        }

        func delivered() async -> [DeliveredNotice] {
            await center.deliveredNotifications().map { notification in
                let request = notification.request
                return DeliveredNotice(
                    identifier: request.identifier, richID: PushEnvelope(userInfo: request.content.userInfo)?.id)
            }
        }

        func setBadge(_ count: Int) async { try? await center.setBadgeCount(count) }

        /// Adds them to those of the host app: the system keeps only what was set last.
        func register(_ categories: [NoticeCategory]) async {
            let ours = Set(categories.map(\.identifier))
            let others = await center.notificationCategories().filter { !ours.contains($0.identifier) }
            center.setNotificationCategories(Set(others).union(categories.map(Self.category)))
        }

        func hasCategory(_ identifier: String) async -> Bool {
            await center.notificationCategories().contains { $0.identifier == identifier }
        }

        private static func category(_ category: NoticeCategory) -> UNNotificationCategory {
            let actions = category.actions.map { action in
                action.takesText
                    ? UNTextInputNotificationAction(
                        identifier: action.identifier, title: action.title, options: [], textInputButtonTitle: action.title,
                        textInputPlaceholder: "")
                    : UNNotificationAction(identifier: action.identifier, title: action.title, options: [.foreground])
            }
            return UNNotificationCategory(
                identifier: category.identifier, actions: actions, intentIdentifiers: [],
                hiddenPreviewsBodyPlaceholder: category.hiddenPreviewText,
                options: category.reportsDismissal ? [.customDismissAction] : [])
        }

        func permission() async -> NoticePermission {
            switch await center.notificationSettings().authorizationStatus {
            case .notDetermined: .notDetermined
            case .denied: .denied
            case .provisional: .provisional
            case .authorized, .ephemeral: .granted
            @unknown default: .notDetermined
            }
        }

        func requestPermission(provisional: Bool) async -> NoticePermission {
            let options: UNAuthorizationOptions = [.alert, .badge, .sound]
            _ = try? await center.requestAuthorization(options: provisional ? options.union(.provisional) : options)
            return await permission()
        }
    }
#endif
