#if canImport(UIKit) && canImport(UserNotifications)
    import UIKit

    /// Keeps the app running for a short piece of work when it goes to the background.
    @MainActor
    final class BackgroundAssertion {
        private var identifier = UIBackgroundTaskIdentifier.invalid

        /// Asks the system; it ends the assertion itself when the time is up.
        init(_ name: String) {
            identifier = UIApplication.shared.beginBackgroundTask(withName: name) { [weak self] in self?.end() }
        }

        /// To be called once the work is done; more calls do no harm.
        func end() {
            guard identifier != .invalid else { return }
            UIApplication.shared.endBackgroundTask(identifier)
            identifier = .invalid
        }
    }
#endif
