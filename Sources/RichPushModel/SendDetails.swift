/// One send: where it stands, and the devices that ended without their push, a page at a time.
public struct SendDetails: Hashable, Sendable, Codable {
    /// The number that the push carried.
    public var id: RichID
    /// When it was due.
    public var dueAt: Timestamp
    /// The name of the user who sent it.
    public var sender: String
    /// The tag expression.
    public var audience: String
    /// Where it stands. `failures` are not in it.
    public var status: SendStatus
    /// Devices that ended without their push. Absent for a caller who may not see the devices of others.
    public var failures: [SendStatus.Failure]?
    /// Pass it as `after` to read on; absent on the last page.
    public var next: String?

    /// Creates details.
    public init(
        id: RichID, dueAt: Timestamp, sender: String, audience: String, status: SendStatus,
        failures: [SendStatus.Failure]? = nil, next: String? = nil
    ) {
        self.id = id
        self.dueAt = dueAt
        self.sender = sender
        self.audience = audience
        self.status = status
        self.failures = failures
        self.next = next
    }
}

/// How many devices a send to an audience would reach now.
public struct AudienceCount: Hashable, Sendable, Codable {
    /// The devices that were counted.
    public var targets: Int
    /// False when counting stopped before the end: the audience has at least so many devices, and probably more.
    public var isComplete: Bool

    /// Creates a count.
    public init(targets: Int, isComplete: Bool) {
        self.targets = targets
        self.isComplete = isComplete
    }

    private enum CodingKeys: String, CodingKey { case targets, isComplete = "complete" }
}
