#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import UIKit
    import UserNotifications

    /// An application delegate with everything that rich push needs. A subclass with a configuration is all that an app writes.
    ///
    ///     final class AppDelegate: RichPushAppDelegate {
    ///         override class var configuration: RichPushConfiguration { .shop }
    ///     }
    ///
    /// An override calls `super`. An app that cannot inherit from it forwards the calls itself, as the functions here do.
    @MainActor
    open class RichPushAppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
        /// The client of this app, from launch to end.
        public private(set) lazy var client = makeClient()

        /// The system makes it.
        public nonisolated override required init() { super.init() }

        /// The app's configuration; the same value as in its service extension. Subclasses override it.
        open class var configuration: RichPushConfiguration {
            preconditionFailure("\(self) overrides the class variable `configuration`")
        }

        /// Makes the client, once. An app with its own ports overrides it.
        open func makeClient() -> RichPushClient { RichPushClient(configuration: Self.configuration) }

        open func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
            client.didFinishLaunching(delegate: self)
            return true
        }

        open func application(
            _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {
            client.didRegisterForRemoteNotifications(deviceToken: deviceToken)
        }

        open func application(
            _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
        ) {
            client.didFailToRegisterForRemoteNotifications(error)
        }

        open func application(
            _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
            fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
        ) {
            client.didReceiveRemoteNotification(userInfo, fetchCompletionHandler: completionHandler)
        }

        open func application(
            _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            client.handleEventsForBackgroundURLSession(identifier, completionHandler: completionHandler)
        }

        /// The system may call on any thread: what is needed is copied here, and the rest happens on the main actor.
        open nonisolated func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            let call = PresentationCall(notification, completionHandler)
            Task { @MainActor in await self.client.answer(call) }
        }

        open nonisolated func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping () -> Void
        ) {
            let call = ResponseCall(response, completionHandler)
            Task { @MainActor in self.client.answer(call) }
        }
    }
#endif
