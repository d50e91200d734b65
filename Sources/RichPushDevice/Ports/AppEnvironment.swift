/// What the app knows of its surroundings.
public protocol AppEnvironment: Sendable {
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

    /// Creates facts.
    public init(bundleID: String, environment: String? = nil, locale: String? = nil) {
        self.bundleID = bundleID
        self.environment = environment
        self.locale = locale
    }
}
