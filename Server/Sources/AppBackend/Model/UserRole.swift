/// What a user may do beyond reading what was sent to them.
public enum UserRole: String, Sendable, Codable, CaseIterable {
    /// Sends to themself only.
    case user
    /// Sends to any audience.
    case sender
    /// Sends to any audience, and manages users.
    case admin
}
