/// The two worlds of APNs; they share nothing (Reference/APNs.md#1-1).
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

    /// The host for the management of broadcast channels.
    public var managementHost: String {
        switch self {
        case .sandbox: "api-manage-broadcast.sandbox.push.apple.com"
        case .production: "api-manage-broadcast.push.apple.com"
        }
    }

    /// The port there; it really differs by environment (Reference/APNs.md#1-1).
    public var managementPort: Int {
        switch self {
        case .sandbox: 2195
        case .production: 2196
        }
    }
}
