#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import UIKit

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

        func installationFacts() async -> InstallationFacts {
            InstallationFacts(
                bundleID: Bundle.main.bundleIdentifier ?? "", environment: PushSigning.current?.rawValue,
                locale: Locale.preferredLanguages.first)
        }
    }

    /// Asks for a device token, at every launch.
    struct SystemPushRegistration: PushRegistering {
        func registerForPush() async { await MainActor.run { UIApplication.shared.registerForRemoteNotifications() } }
    }
#endif
