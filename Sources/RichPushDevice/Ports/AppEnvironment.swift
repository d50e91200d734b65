/// What the app knows of its surroundings.
///
/// Whether protected data can be read is not among it: the stores say so themselves when they are asked (`StorageError.locked`),
/// at the one moment that counts.
public protocol AppEnvironment: PowerState {
    /// Whether the user looks at the app.
    func appState() async -> AppState
    /// Facts for the server.
    func installationFacts() async -> InstallationFacts
}

/// Where the app stands.
public enum AppState: String, Sendable, Codable {
    case active, inactive, background
}

/// What the server learns of an installation, next to its token.
public struct InstallationFacts: Hashable, Sendable, Codable {
    /// The bundle id, which is the APNs topic.
    public var bundleID: String
    /// `sandbox` or `production`, as the app is signed; absent means the hub's default.
    public var environment: String?
    /// A BCP 47 language tag.
    public var locale: String?
    /// For example `2.1 (417)`.
    public var appVersion: String?
    /// For example `iOS 18.2`.
    public var systemVersion: String?
    /// For example `Europe/Stockholm`.
    public var timeZone: String?
    /// What the app was built with, such as `service-extension`; the engine adds what it is configured for.
    public var capabilities: [String]

    /// Creates facts.
    public init(
        bundleID: String, environment: String? = nil, locale: String? = nil, appVersion: String? = nil,
        systemVersion: String? = nil, timeZone: String? = nil, capabilities: [String] = []
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.locale = locale
        self.appVersion = appVersion
        self.systemVersion = systemVersion
        self.timeZone = timeZone
        self.capabilities = capabilities
    }
}
