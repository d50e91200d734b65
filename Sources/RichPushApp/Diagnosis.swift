/// What is wrong with an app's set-up, most serious first, in sentences for its developer: nearly every picture that does not show is
/// caused by a mistake in the set-up (Reference/IOSClient.md#11).
public struct Diagnosis: Hashable, Sendable {
    /// One problem or remark.
    public struct Finding: Hashable, Sendable, Identifiable {
        /// How bad it is.
        public enum Severity: String, Sendable, Comparable {
            /// Worth knowing; the system or the user chose it.
            case note
            /// Some pushes will not look as they should.
            case warning
            /// Rich push cannot work.
            case error

            public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

            private var rank: Int { self == .error ? 0 : self == .warning ? 1 : 2 }
        }

        /// A stable code, for example `app-group-missing`.
        public let id: String
        public let severity: Severity
        /// What is wrong and what to do about it.
        public let sentence: String
    }

    public let facts: SetupFacts
    public let findings: [Finding]

    /// Evaluates facts.
    public init(_ facts: SetupFacts) {
        self.facts = facts
        findings = (Self.signing(facts) + Self.parts(facts) + Self.surroundings(facts)).sorted { $0.severity < $1.severity }
    }

    /// Whether nothing is an error.
    public var isSound: Bool { findings.allSatisfy { $0.severity != .error } }

    private static func signing(_ facts: SetupFacts) -> [Finding] {
        var findings: [Finding] = []
        if facts.hasAppGroup == nil {
            findings.append(
                .init(
                    id: "app-group-unset", severity: .warning,
                    sentence: "The configuration names no App Group, so the service extension finds no session."))
        }
        if facts.hasAppGroup == false {
            findings.append(
                .init(
                    id: "app-group-missing", severity: .error,
                    sentence: SetupError.appGroupMissingSentence))
        }
        if !facts.hasSharedKeychain {
            findings.append(
                .init(
                    id: "keychain-unshared", severity: .error,
                    sentence: SetupError.keychainUnsharedSentence))
        }
        if facts.environment == nil {
            findings.append(
                .init(
                    id: "push-entitlement-missing", severity: .error,
                    sentence: "The provisioning profile has no aps-environment. Add the capability Push Notifications."))
        }
        if let environment = facts.environment, let server = facts.serverEnvironments, !server.contains(environment) {
            let credentials = server.isEmpty ? "has no credential for APNs" : "sends to \(server.joined(separator: ", ")) only"
            findings.append(
                .init(
                    id: "environment-mismatch", severity: .error,
                    sentence:
                        "The app is signed for \(environment), and the server \(credentials): APNs refuses this device's token."))
        }
        return findings
    }

    private static func parts(_ facts: SetupFacts) -> [Finding] {
        var findings: [Finding] = []
        func note(_ isWrong: Bool, _ id: String, _ severity: Finding.Severity, _ sentence: String) {
            if isWrong { findings.append(.init(id: id, severity: severity, sentence: sentence)) }
        }
        note(
            !facts.hasServiceExtension, "extension-missing", .warning,
            "The app carries no notification service extension, so visible pushes show neutral text and no picture.")
        note(
            !facts.hasRemoteNotificationMode, "background-mode-missing", .error,
            "UIBackgroundModes lacks remote-notification, so silent pushes never wake the app.")
        note(
            facts.listsRefreshTask == false, "refresh-task-unlisted", .error,
            "BGTaskSchedulerPermittedIdentifiers does not list the configuration's refreshTask.")
        note(
            !facts.hasDelegate, "delegate-replaced", .error,
            "Another object is the notification centre's delegate. Forward its two calls to the client, or taps open nothing.")
        note(
            !facts.hasCategory, "category-missing", .error,
            "The category richPush is not registered. Something called setNotificationCategories without the ones before.")
        note(
            !facts.handlesOffers, "offers-unheard", .error,
            "No screen asks OK / More: use richPush(_:show:), call attach(show:offer:), or turn offersInForeground off.")
        return findings
    }

    private static func surroundings(_ facts: SetupFacts) -> [Finding] {
        var findings: [Finding] = []
        func note(_ isSo: Bool, _ id: String, _ severity: Finding.Severity, _ sentence: String) {
            if isSo { findings.append(.init(id: id, severity: severity, sentence: sentence)) }
        }
        note(
            !facts.hasToken, "token-missing", .warning,
            "The system gave no device token since the launch: no network, or the push entitlement is missing.")
        note(!facts.isSignedIn, "not-signed-in", .note, "No user is signed in, so no push is for this device.")
        note(
            facts.permission == "denied", "permission-denied", .warning,
            "The user does not want notifications of this app. They change it in Settings.")
        note(
            facts.permission == "notDetermined", "permission-unasked", .note,
            "The user was not asked yet: visible pushes do not show. Call requestPermission when you can explain why.")
        note(
            !facts.hasBackgroundRefresh, "background-refresh-off", .note,
            "Background App Refresh is off for this app, so silent pushes do not wake it.")
        note(facts.isInLowPowerMode, "low-power-mode", .note, "In Low Power Mode the system holds silent pushes back.")
        if let failure = facts.backendFailure {
            note(true, "backend-failed", .warning, "The backend did not answer as expected: \(failure).")
        }
        return findings
    }
}

/// A mistake in an app's set-up with which it cannot be configured.
public enum SetupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `configure` was called before: an app has one `RichPush`.
    case configuredTwice
    /// The configuration's App Group is not among the app's entitlements.
    case appGroupMissing(String)
    /// The key chain refuses the App Group as an access group.
    case keychainUnshared(String)

    public var description: String {
        switch self {
        case .configuredTwice: "RichPush.configure was called twice. Keep what the first call returned."
        case .appGroupMissing(let group): "\(group): \(Self.appGroupMissingSentence)"
        case .keychainUnshared(let group): "\(group): \(Self.keychainUnsharedSentence)"
        }
    }

    static let appGroupMissingSentence =
        "The App Group is not among the app's entitlements. Add it to the app and to both extensions."
    static let keychainUnsharedSentence =
        "The key chain refuses the App Group as an access group. Check the entitlements' signing."
}

/// What an app's set-up looks like from inside, gathered by `RichPush.diagnose()`.
public struct SetupFacts: Hashable, Sendable {
    /// Whether the App Group's folder can be reached: `nil` when the configuration names no group.
    public var hasAppGroup: Bool?
    /// Whether a secret can be written where app and extension share it, and read again.
    public var hasSharedKeychain = true
    /// Whether the app carries a notification service extension.
    public var hasServiceExtension = true
    /// Whether the Info.plist has `remote-notification` under `UIBackgroundModes`.
    public var hasRemoteNotificationMode = true
    /// Whether the Info.plist lists the identifier of the background refresh; `nil` when the configuration has none.
    public var listsRefreshTask: Bool?
    /// `sandbox` or `production`, as the app is signed; `nil` when its profile does not allow pushes.
    public var environment: String?
    /// The environments of the two that the server has a credential for, as last reported; `nil` when it has reported none.
    public var serverEnvironments: [String]?
    /// Whether the system has given a device token since the launch.
    public var hasToken = true
    /// Whether another delegate has taken the notification centre over since the launch.
    public var hasDelegate = true
    /// Whether the category of rich push is registered.
    public var hasCategory = true
    /// Whether the user turned background refresh off for this app.
    public var hasBackgroundRefresh = true
    public var isInLowPowerMode = false
    /// What the user answered.
    public var permission = "granted"
    /// Whether a screen asks OK / More in the foreground, if the configuration wants that.
    public var handlesOffers = true
    /// Whether a user is signed in.
    public var isSignedIn = true
    /// Why the backend could not be asked just now, as in `RichPushError.code`; `nil` when it could.
    public var backendFailure: String?

    /// Creates the facts of an app in which everything is right.
    public init() {}
}
