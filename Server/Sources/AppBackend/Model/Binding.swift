import PushHub
import RichPushModel
import TagExpressions

/// That a device belonged to a user with certain tags, from one moment until another. Access to content is decided by
/// these alone, whatever a hub says.
public struct Binding: Hashable, Sendable {
    /// Counts up; a change of the device makes a new binding.
    public var number: Int64
    public var user: UserID
    public var device: BoundDevice
    public var from: Timestamp
    /// Where in the order of sends it began.
    public var order: OrderNumber
    /// Absent while it holds.
    public var until: Timestamp?
    /// Where in the order of sends it ended; absent while it holds.
    public var endOrder: OrderNumber?

    /// Creates a binding.
    public init(
        number: Int64, user: UserID, device: BoundDevice, from: Timestamp, order: OrderNumber, until: Timestamp? = nil,
        endOrder: OrderNumber? = nil
    ) {
        self.number = number
        self.user = user
        self.device = device
        self.from = from
        self.order = order
        self.until = until
        self.endOrder = endOrder
    }

    /// Whether it held at any time of a send's life, by the order of what was committed: no clock has a part in it. A send that has
    /// not completed has no end yet. Only where a hub elsewhere ended the send, moments say whether a binding that is younger than
    /// the send began in time.
    public func held(during notification: RichNotification) -> Bool {
        if let endOrder, endOrder <= notification.order { return false }
        if order <= notification.order { return true }
        if let end = notification.endOrder { return order <= end }
        return notification.completedAt.map { from <= $0 } ?? true
    }
}

/// A device as its user registered it: all that a hub has to be told.
public struct BoundDevice: Hashable, Sendable {
    public var record: RecordID
    public var kind: DeviceRecord.Kind
    public var platform: Platform
    public var handle: DeviceHandle?
    public var environment: String?
    public var topic: String?
    /// With the user's own tag.
    public var tags: [Tag]
    /// The public key for which senders seal, base64; absent for one that opens nothing sealed. No hub is told.
    public var sealingKey: String?
    /// What it told of itself; they change without a new binding, and go when the binding ends.
    public var facts: DeviceFacts?

    /// Creates a device.
    public init(
        record: RecordID, kind: DeviceRecord.Kind, platform: Platform, handle: DeviceHandle?, environment: String? = nil,
        topic: String? = nil, tags: [Tag], sealingKey: String? = nil, facts: DeviceFacts? = nil
    ) {
        self.record = record
        self.kind = kind
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.tags = tags
        self.sealingKey = sealingKey
        self.facts = facts
    }

    /// Whether it is registered as the other is, whatever the two tell of themselves.
    public func isRegistered(as other: BoundDevice) -> Bool {
        var same = other
        same.facts = facts
        return self == same
    }

    /// What expressions see: the tags, and for an installation the one that addresses it.
    public var matchingTags: Set<Tag> {
        var all = Set(tags)
        if kind == .installation, let id = InstallationID(record.text) { all.insert(.installation(id)) }
        return all
    }

    /// The request that makes the hub know this device. Other records of the handle go.
    var upsert: DeviceUpsert {
        DeviceUpsert(
            id: record, kind: kind, platform: platform, handle: handle, environment: environment, topic: topic, tags: tags,
            replacesSameHandle: handle != nil)
    }
}
