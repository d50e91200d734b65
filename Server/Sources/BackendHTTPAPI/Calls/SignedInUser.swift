import RichPushModel

/// The answer to `GET /api/v1/me`.
public struct SignedInUser: Hashable, Sendable, Codable {
    /// The name as it was stored.
    public var user: String
    /// `user`, `sender` or `admin`.
    public var role: String
    /// The installation whose credential signed the request, if one did.
    public var installation: InstallationID?

    /// Creates an answer.
    public init(user: String, role: String, installation: InstallationID?) {
        self.user = user
        self.role = role
        self.installation = installation
    }
}
