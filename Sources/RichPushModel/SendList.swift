/// A send in a list. The words and the content of the notification are not in it.
public struct SendListEntry: Hashable, Sendable, Codable {
    /// The most characters of an audience in a list.
    public static let audienceLimit = 200

    /// The number that the push carried.
    public var id: RichID
    /// When it was due.
    public var dueAt: Timestamp
    /// The name of the user who sent it.
    public var sender: String
    /// The tag expression; one that is longer than 200 characters is cut, and ends with `…`.
    public var audience: String
    /// Where it stands. `failures` are not in it. Absent for a send that was handed to a hub elsewhere, and while the hub does not answer.
    public var status: SendStatus?

    /// Creates an entry.
    public init(id: RichID, dueAt: Timestamp, sender: String, audience: String, status: SendStatus?) {
        self.id = id
        self.dueAt = dueAt
        self.sender = sender
        self.audience =
            audience.count <= Self.audienceLimit ? audience : String(audience.prefix(Self.audienceLimit - 1)) + "…"
        self.status = status
    }
}

/// A page of sends, newest first.
public struct SendList: Hashable, Sendable, Codable {
    public var sends: [SendListEntry]
    /// Pass it as `before` to read on towards older ones; absent on the last page.
    public var next: String?

    /// Creates a page.
    public init(sends: [SendListEntry], next: String? = nil) {
        self.sends = sends
        self.next = next
    }
}
