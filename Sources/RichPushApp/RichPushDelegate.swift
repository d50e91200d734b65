#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import UIKit
    import UserNotifications

    /// Hands the system's calls to what `RichPush.configure` made. An app without a delegate of its own names it:
    ///
    ///     @UIApplicationDelegateAdaptor(RichPushDelegate.self) private var delegate
    ///
    /// An app with a delegate forwards the calls itself, as the functions here do.
    @MainActor
    public final class RichPushDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
        private var owner: RichPush?

        /// The system makes it.
        public nonisolated override required init() { super.init() }

        init(_ owner: RichPush) {
            self.owner = owner
            super.init()
        }

        var push: RichPush {
            guard let push = owner ?? RichPush.current else {
                preconditionFailure("call RichPush.configure before the launch has ended, as in the init of the app")
            }
            return push
        }

        public func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
            // A mistake shows now, and not at the first push.
            _ = push
            return true
        }

        public func application(
            _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {
            push.didRegisterForRemoteNotifications(deviceToken: deviceToken)
        }

        public func application(
            _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
        ) {
            push.didFailToRegisterForRemoteNotifications(error)
        }

        public func application(
            _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
            fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
        ) {
            push.didReceiveRemoteNotification(userInfo, fetchCompletionHandler: completionHandler)
        }

        public func application(
            _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            push.handleEventsForBackgroundURLSession(identifier, completionHandler: completionHandler)
        }

        /// The system may call on any thread: what is needed is copied here, and the rest happens on the main actor.
        public nonisolated func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            let call = PresentationCall(notification, completionHandler)
            Task { @MainActor in await self.push.answer(call) }
        }

        public nonisolated func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping () -> Void
        ) {
            let call = ResponseCall(response, completionHandler)
            Task { @MainActor in self.push.answer(call) }
        }
    }
#endif
