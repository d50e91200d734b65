import RichPushModel

/// The answer to `POST /api/v1/notifications/{id}/ticket`.
public struct TicketAnswer: Hashable, Sendable, Codable {
    /// The path and query under which the content can be fetched without a header. Secret while it is valid.
    public var path: String
    public var expiresAt: Timestamp

    /// Creates an answer.
    public init(path: String, expiresAt: Timestamp) {
        self.path = path
        self.expiresAt = expiresAt
    }
}
