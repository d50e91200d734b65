#if canImport(UIKit) && canImport(UserNotifications)
    import BackgroundTasks
    import Foundation
    import RichPushDevice
    import RichPushPlatform

    /// Now and then, when the system sees fit, the app sends waiting receipts and reads its inbox without being opened.
    enum BackgroundRefresh {
        /// The system decides how often; this is the least that lies between two.
        private static let interval: TimeInterval = 4 * 3600

        /// To be called before the launch has ended. `false` when the Info.plist does not list the identifier.
        @discardableResult
        static func register(_ identifier: String, engine: RichPushEngine) -> Bool {
            let isTaken = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                run(task, identifier, engine)
            }
            if isTaken { schedule(identifier) }
            return isTaken
        }

        private static func schedule(_ identifier: String) {
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.earliestBeginDate = Date(timeIntervalSinceNow: interval)
            try? BGTaskScheduler.shared.submit(request)
        }

        /// The system wants to hear of the end once, and sooner when it takes its time back.
        private static func run(_ task: BGTask, _ identifier: String, _ engine: RichPushEngine) {
            schedule(identifier)
            let done = OneShot<Bool> { task.setTaskCompleted(success: $0) }
            let work = Task {
                let inbox = try? await engine.refresh()
                done(inbox != nil)
            }
            task.expirationHandler = {
                work.cancel()
                done(false)
            }
        }
    }
#endif
