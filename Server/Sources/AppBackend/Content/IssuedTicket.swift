import RichPushModel

/// A short-lived link to one content for players that cannot send a header.
public struct IssuedTicket: Hashable, Sendable {
    /// Goes into the query of the content's address. Secret while it is valid.
    public var ticket: String
    public var expiresAt: Timestamp

    /// Creates an answer.
    public init(ticket: String, expiresAt: Timestamp) {
        self.ticket = ticket
        self.expiresAt = expiresAt
    }
}
