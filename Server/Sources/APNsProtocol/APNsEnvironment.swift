/// The two worlds of APNs; they share nothing (APNs reference 1.1).
public enum APNsEnvironment: String, Sendable, Codable, CaseIterable {
    case sandbox
    case production

    /// The host for device pushes and broadcasts.
    public var host: String {
        switch self {
        case .sandbox: "api.sandbox.push.apple.com"
        case .production: "api.push.apple.com"
        }
    }
}
