#if canImport(UIKit) && canImport(UserNotifications)
    import BackgroundTasks
    import Foundation
    import RichPushDevice
    import RichPushPlatform

    /// Now and then, when the system sees fit, the app sends waiting receipts and reads its inbox without being opened.
    enum BackgroundRefresh {
        /// What the app may take of the about thirty seconds that the system gives it (Reference/IOSClient.md#3).
        private static let budget: Duration = .seconds(25)

        /// To be called before the launch has ended. `false` when the Info.plist does not list the identifier.
        @discardableResult
        static func register(_ identifier: String, engine: RichPushEngine) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in run(task, engine) }
        }

        /// The system wants to hear of the end once, and sooner when it takes its time back.
        private static func run(_ task: BGTask, _ engine: RichPushEngine) {
            let done = OneShot<Bool> { task.setTaskCompleted(success: $0) }
            let work = Task { done(await engine.handleBackgroundRefresh(budget: budget)) }
            task.expirationHandler = {
                work.cancel()
                done(false)
            }
        }
    }

    /// Asks the system for the next refresh; it refuses what the Info.plist does not list, and `diagnose()` says so.
    struct SystemBackgroundScheduling: BackgroundScheduling {
        let identifier: String

        func scheduleRefresh(after pause: Duration) async {
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.earliestBeginDate = Date(timeIntervalSinceNow: pause.inSeconds)
            try? BGTaskScheduler.shared.submit(request)
        }
    }
#endif
