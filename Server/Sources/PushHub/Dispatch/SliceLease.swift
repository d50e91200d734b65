import RichPushModel

/// The name of a slice.
public struct SliceID: Hashable, Sendable {
    public var hub: HubID
    public var notification: NotificationID
    public var number: Int64

    /// Creates a name.
    public init(hub: HubID, notification: NotificationID, number: Int64) {
        self.hub = hub
        self.notification = notification
        self.number = number
    }
}

/// A slice in the hands of a node, and how far it is.
public struct SliceLease: Hashable, Sendable {
    public var id: SliceID
    /// Every target up to this key is settled or has a pending row.
    public var cursor: SliceKey
    public var last: SliceKey
    public var weight: SliceWeight
    /// Targets the walk has passed.
    public var walked: Int
    /// Consecutive times that no target of a page of the walk could be sent to.
    public var failures: Int
    /// Since when the walk has got no answer. Retries leave it alone.
    public var stalledSince: Timestamp?
    /// The slice's share of the pace of its send, if that has one.
    public var pushesPerSecond: Int?
    public var epoch: Int64

    /// Creates a lease.
    public init(
        id: SliceID, cursor: SliceKey, last: SliceKey, weight: SliceWeight, walked: Int = 0, failures: Int = 0,
        stalledSince: Timestamp? = nil, pushesPerSecond: Int? = nil, epoch: Int64
    ) {
        self.id = id
        self.cursor = cursor
        self.last = last
        self.weight = weight
        self.walked = walked
        self.failures = failures
        self.stalledSince = stalledSince
        self.pushesPerSecond = pushesPerSecond
        self.epoch = epoch
    }
}
