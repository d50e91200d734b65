#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushPlatform
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

        func isSavingPower() async -> Bool { await SystemPower().isSavingPower() }

        func installationFacts() async -> InstallationFacts {
            InstallationFacts(
                bundleID: Bundle.main.bundleIdentifier ?? "", environment: PushSigning.current?.rawValue,
                locale: Locale.preferredLanguages.first, appVersion: Self.appVersion, systemVersion: Self.systemVersion,
                timeZone: TimeZone.current.identifier,
                capabilities: RichPushClient.carriesServiceExtension ? ["service-extension"] : [])
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
