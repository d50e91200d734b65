import RichPushModel

/// What a ticket grants: one user reads one variant of one notification's content until it expires.
public struct ContentTicket: Hashable, Sendable {
    /// The longest that a ticket may live.
    public static let maximumAge: Duration = .seconds(300)

    /// The internal number of the user.
    public var user: Int64
    public var notification: RichID
    /// `original` or `thumb`.
    public var variant: String
    public var expiresAt: Timestamp
    /// The version of the user's password when the ticket was issued; it is void under any other.
    public var credentialVersion: Int64

    /// Creates a ticket.
    public init(user: Int64, notification: RichID, variant: String, expiresAt: Timestamp, credentialVersion: Int64) {
        self.user = user
        self.notification = notification
        self.variant = variant
        self.expiresAt = expiresAt
        self.credentialVersion = credentialVersion
    }
}
