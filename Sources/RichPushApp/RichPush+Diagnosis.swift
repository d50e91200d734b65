#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform
    import UIKit
    import UserNotifications

    extension RichPush {
        /// Looks at how the app is set up and says what is wrong. It asks the backend once, so it may take some seconds.
        public func diagnose() async -> Diagnosis {
            var facts = SetupFacts()
            facts.hasAppGroup = configuration.appGroup.map { SharedFolder.inGroup($0) != nil }
            facts.hasSharedKeychain = Self.probe(DevicePorts.secrets(probing: configuration))
            facts.hasServiceExtension = Self.carriesServiceExtension
            facts.hasRemoteNotificationMode = Self.listed(under: "UIBackgroundModes").contains("remote-notification")
            let tasks = Self.listed(under: "BGTaskSchedulerPermittedIdentifiers")
            facts.listsRefreshTask = configuration.refreshTask.map { tasks.contains($0) }
            facts.environment = PushSigning.current?.rawValue
            facts.hasToken = environment.hasToken
            let center = UNUserNotificationCenter.current()
            facts.hasDelegate = delegate != nil && center.delegate === delegate
            facts.hasCategory = await notifications.hasCategory(PushEnvelope.category)
            facts.hasBackgroundRefresh = UIApplication.shared.backgroundRefreshStatus == .available
            facts.isInLowPowerMode = ProcessInfo.processInfo.isLowPowerModeEnabled
            facts.permission = await permission.rawValue
            facts.handlesOffers = !configuration.offersInForeground || router.handlesOffers
            facts.isSignedIn = await engine.session != nil
            if facts.isSignedIn {
                do throws(RichPushError) { _ = try await engine.refresh() } catch { facts.backendFailure = error.code }
            }
            facts.serverEnvironments = await engine.serverEnvironments
            return Diagnosis(facts)
        }

        /// Writes, reads and removes a secret under a service name of its own.
        private static func probe(_ secrets: KeychainSecretStore) -> Bool {
            defer { try? secrets.removeSecret(.credential) }
            return (try? secrets.setSecret("probe", for: .credential)) != nil
                && (try? secrets.secret(.credential)) == "probe"
        }

        private static func listed(under key: String) -> [String] {
            Bundle.main.object(forInfoDictionaryKey: key) as? [String] ?? []
        }

        static var carriesServiceExtension: Bool {
            guard let folder = Bundle.main.builtInPlugInsURL,
                let plugIns = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            else { return false }
            return plugIns.contains { plugIn in
                let about = Bundle(url: plugIn)?.object(forInfoDictionaryKey: "NSExtension") as? [String: Any]
                return about?["NSExtensionPointIdentifier"] as? String == "com.apple.usernotifications.service"
            }
        }
    }

    extension SetupError {
        /// Throws what is wrong with the App Group of an app.
        static func check(_ configuration: RichPushConfiguration) throws(SetupError) {
            guard let group = configuration.appGroup else { return }
            guard SharedFolder.inGroup(group) != nil else { throw .appGroupMissing(group) }
            guard !DevicePorts.secrets(configuration, isForApp: true).isGroupRefused else { throw .keychainUnshared(group) }
        }
    }

    extension DevicePorts {
        /// The same place as the real secrets, under another name.
        fileprivate static func secrets(probing configuration: RichPushConfiguration) -> KeychainSecretStore {
            KeychainSecretStore(service: "richpush probe", sharedGroup: configuration.appGroup, isForApp: true)
        }
    }

    /// Which of Apple's two push services the app is signed for. A token of one is refused by the other.
    enum PushSigning: String {
        case sandbox, production

        /// An app from the store carries no profile; one from Xcode or for testers carries the profile that says it.
        static var current: PushSigning? {
            #if targetEnvironment(simulator)
                return .sandbox
            #else
                guard let file = Bundle.main.url(forResource: "embedded", withExtension: "mobileprovision") else {
                    return .production
                }
                return (try? Data(contentsOf: file)).flatMap { PushSigning(profile: $0) }
            #endif
        }

        /// Reads a provisioning profile: a property list inside a signature. `nil` when it does not allow pushes at all.
        init?(profile: Data) {
            let text = String(decoding: profile, as: UTF8.self)
            guard let key = text.range(of: "<key>aps-environment</key>"),
                let start = text.range(of: "<string>", range: key.upperBound..<text.endIndex),
                let end = text.range(of: "</string>", range: start.upperBound..<text.endIndex)
            else { return nil }
            switch text[start.upperBound..<end.lowerBound] {
            case "development": self = .sandbox
            case "production": self = .production
            default: return nil
            }
        }
    }
#endif
