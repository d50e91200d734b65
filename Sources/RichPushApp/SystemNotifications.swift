#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UIKit
    import UserNotifications

    /// The system's notification centre. Only its async functions are called: a block written here would belong to the actor that
    /// it stands in, and the system calls blocks on a queue of its own (Reference/IOSClient.md#4).
    struct SystemNotifications: NotificationPresenting {
        private var center: UNUserNotificationCenter { UNUserNotificationCenter.current() }

        func present(_ notification: LocalNotification) async throws(PresentationError) {
            do {
                let content = UNMutableNotificationContent()
                let altText = notification.content.attachment?.altText
                content.userInfo = PushEnvelope.userInfo(id: notification.richID, kind: notification.kind, altText: altText)
                content.sound = .default
                try notification.content.write(to: content, requiresAttachment: true)
                try await center.add(UNNotificationRequest(identifier: notification.identifier, content: content, trigger: nil))
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

        func delivered() async -> [DeliveredNotification] {
            await center.deliveredNotifications().map { notification in
                let request = notification.request
                return DeliveredNotification(
                    identifier: request.identifier, richID: PushEnvelope(userInfo: request.content.userInfo)?.id)
            }
        }

        func setBadge(_ count: Int) async { try? await center.setBadgeCount(count) }

        /// Adds them to those of the host app: the system keeps only what was set last.
        func register(_ categories: [NotificationCategory]) async {
            let ours = Set(categories.map(\.identifier))
            let others = await center.notificationCategories().filter { !ours.contains($0.identifier) }
            center.setNotificationCategories(Set(others).union(categories.map(Self.category)))
        }

        func hasCategory(_ identifier: String) async -> Bool {
            await center.notificationCategories().contains { $0.identifier == identifier }
        }

        private static func category(_ category: NotificationCategory) -> UNNotificationCategory {
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

        func permission() async -> NotificationPermission {
            switch await center.notificationSettings().authorizationStatus {
            case .notDetermined: .notDetermined
            case .denied: .denied
            case .provisional: .provisional
            case .authorized, .ephemeral: .granted
            @unknown default: .notDetermined
            }
        }

        func requestPermission(provisional: Bool) async -> NotificationPermission {
            let options: UNAuthorizationOptions = [.alert, .badge, .sound]
            _ = try? await center.requestAuthorization(options: provisional ? options.union(.provisional) : options)
            return await permission()
        }
    }

    /// A notification that the system is about to show over the app, without the system's types: those may not cross to another
    /// actor.
    struct PresentationCall: Sendable {
        let notification: ForegroundNotification
        let done: OneShot<UNNotificationPresentationOptions>

        init(_ notification: UNNotification, _ completion: @escaping (UNNotificationPresentationOptions) -> Void) {
            let request = notification.request
            let envelope = PushEnvelope(userInfo: request.content.userInfo)
            self.notification = ForegroundNotification(
                identifier: request.identifier, richID: envelope?.id, subject: envelope?.subject,
                content: NotificationContent(request.content))
            done = OneShot(completion)
        }
    }

    /// What the user did with a notification, as above; no response when the notification is not one of ours.
    struct ResponseCall: Sendable {
        let response: NotificationResponse?
        let done: OneShot<Void>

        init(_ response: UNNotificationResponse, _ completion: @escaping () -> Void) {
            let request = response.notification.request
            let text = (response as? UNTextInputNotificationResponse)?.userText
            let action = text.map(NotificationResponse.Action.reply) ?? Self.action(response.actionIdentifier)
            self.response = PushEnvelope(userInfo: request.content.userInfo).map {
                NotificationResponse(identifier: request.identifier, richID: $0.id, action: action, kind: $0.kind)
            }
            done = OneShot(completion)
        }

        private static func action(_ identifier: String) -> NotificationResponse.Action {
            switch identifier {
            case UNNotificationDefaultActionIdentifier: .open
            case UNNotificationDismissActionIdentifier: .dismiss
            default: .button(identifier)
            }
        }
    }

    /// What the app knows of itself and of the device.
    @MainActor
    final class SystemEnvironment: AppEnvironment {
        /// Whether the system has given a device token since the launch.
        private(set) var hasToken = false

        func noteToken() { hasToken = true }

        func appState() async -> AppState {
            switch UIApplication.shared.applicationState {
            case .active: .active
            case .inactive: .inactive
            case .background: .background
            @unknown default: .background
            }
        }

        func isSavingPower() async -> Bool { await SystemPower().isSavingPower() }

        func installationFacts() async -> InstallationFacts {
            InstallationFacts(
                bundleID: Bundle.main.bundleIdentifier ?? "", environment: PushSigning.current?.rawValue,
                locale: Locale.preferredLanguages.first, languages: Locale.preferredLanguages, appVersion: Self.appVersion,
                systemVersion: Self.systemVersion, timeZone: TimeZone.current.identifier,
                capabilities: RichPush.carriesServiceExtension ? ["service-extension"] : [])
        }

        /// As the App Store and a crash report name it.
        private static var appVersion: String? {
            let value = { (key: String) in Bundle.main.object(forInfoDictionaryKey: key) as? String }
            guard let version = value("CFBundleShortVersionString") else { return nil }
            return value("CFBundleVersion").map { "\(version) (\($0))" } ?? version
        }

        private static var systemVersion: String {
            let version = ProcessInfo.processInfo.operatingSystemVersion
            let patch = version.patchVersion == 0 ? "" : ".\(version.patchVersion)"
            return "iOS \(version.majorVersion).\(version.minorVersion)\(patch)"
        }
    }

    /// Asks for a device token, at every launch.
    struct SystemPushRegistration: PushRegistering {
        func registerForPush() async { await MainActor.run { UIApplication.shared.registerForRemoteNotifications() } }
    }
#endif
