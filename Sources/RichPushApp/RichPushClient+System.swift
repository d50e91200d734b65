#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UIKit
    import UserNotifications

    /// The system's calls, by the names that they have in the delegates. `RichPushAppDelegate` forwards them; an app with a
    /// delegate of its own forwards them by hand, each on the thread on which it comes.
    extension RichPushClient {
        /// What the app may take of the about thirty seconds that the system gives a background push.
        private static let budget: Duration = .seconds(25)

        /// To be called before `application(_:didFinishLaunchingWithOptions:)` returns, and `delegate` is the notification
        /// centre's delegate from then on: one that is set later misses the tap that started the app (Reference/IOSClient.md#3).
        public func didFinishLaunching(delegate: any UNUserNotificationCenterDelegate) {
            UNUserNotificationCenter.current().delegate = delegate
            self.delegate = delegate
            if let task = configuration.refreshTask { BackgroundRefresh.register(task, engine: engine) }
            start()
        }

        /// The system gave a device token.
        public func didRegisterForRemoteNotifications(deviceToken: Data) {
            let token = deviceToken.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
            environment.noteToken()
            Task { await engine.didRegister(token: token) }
        }

        /// The system gave none; the next launch asks again.
        public func didFailToRegisterForRemoteNotifications(_ error: any Error) {
            let reason = "\((error as NSError).domain) \((error as NSError).code)"
            Task { await engine.didFailToRegister(reason: reason) }
        }

        /// A push woke the app. `completion` is called once, within the budget, on the main thread.
        public func didReceiveRemoteNotification(
            _ userInfo: [AnyHashable: Any], fetchCompletionHandler completion: @escaping (UIBackgroundFetchResult) -> Void
        ) {
            guard let envelope = PushEnvelope(userInfo: userInfo) else { return completion(.noData) }
            let done = OneShot(completion)
            Task {
                switch await engine.handleBackgroundPush(envelope, budget: Self.budget) {
                case .newData: done(.newData)
                case .noData: done(.noData)
                case .failed: done(.failed)
                }
            }
        }

        /// The system is about to show a notification over the app. It may call on any thread; `completion` is called once, on
        /// the main thread: answered elsewhere the system stops the process (Reference/IOSClient.md#4).
        public nonisolated func willPresent(
            _ notification: UNNotification,
            withCompletionHandler completion: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            let call = PresentationCall(notification, completion)
            Task { @MainActor in await self.answer(call) }
        }

        /// The user did something with a notification. As above.
        public nonisolated func didReceive(
            _ response: UNNotificationResponse, withCompletionHandler completion: @escaping () -> Void
        ) {
            let call = ResponseCall(response, completion)
            Task { @MainActor in self.answer(call) }
        }

        func answer(_ call: PresentationCall) async { call.done(Self.options(await engine.willPresent(call.notice))) }

        /// The content may take long; the system only wants to know that the tap has arrived.
        func answer(_ call: ResponseCall) {
            defer { call.done() }
            guard let response = call.response else { return }
            let assertion = BackgroundAssertion("Notification response")
            Task {
                await engine.didRespond(response)
                assertion.end()
            }
        }

        /// The system relaunched the app, or woke it, because downloads have ended. `completion` is called on the main thread
        /// when all of them have been taken in.
        public func handleEventsForBackgroundURLSession(_ identifier: String, completionHandler: @escaping () -> Void) {
            guard identifier == BackgroundDownloads.identifier else { return completionHandler() }
            downloads.finish(then: OneShot(completionHandler))
        }

        private static func options(_ options: PresentationOptions) -> UNNotificationPresentationOptions {
            var converted: UNNotificationPresentationOptions = []
            if options.contains(.banner) { converted.insert(.banner) }
            if options.contains(.list) { converted.insert(.list) }
            if options.contains(.sound) { converted.insert(.sound) }
            return converted
        }
    }
#endif
