/// The body of `POST /api/v1/notifications/{id}/replies`: what a receiver answers to the sender of a notification.
public struct Reply: Hashable, Sendable, Codable {
    /// A word of the phone's own, 1 to 64 of `A-Z a-z 0-9 _ -`: the same reply twice is delivered once.
    public var id: String
    /// 1 to 2,000 characters.
    public var text: String

    /// Creates a reply.
    public init(id: String, text: String) {
        self.id = id
        self.text = text
    }
}
