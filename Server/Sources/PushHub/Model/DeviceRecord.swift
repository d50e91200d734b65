import RichPushModel

/// One target of a hub: a device's native one or one of its templates.
///
/// A registration is one record. An installation is its native record and one more for each of its templates and tiles, which
/// name it as their `parent` and come, move and go with it.
public struct DeviceRecord: Hashable, Sendable {
    /// Which of the two protocol forms created the record.
    public enum Kind: String, Sendable { case registration, installation }

    public var id: RecordID
    public var kind: Kind
    public var platform: Platform
    /// Absent for an installation whose system has not given a token yet; such a record is in no audience.
    public var handle: DeviceHandle?
    /// `sandbox` or `production`; absent means the hub's default.
    public var environment: String?
    /// The APNs topic; absent means the hub's default.
    public var topic: String?
    /// At most 60 (Reference/AzureNotificationHubs.md#3-1).
    /// Those of a record with a parent include the parent's and the template's name, and may be more.
    public var tags: [Tag]
    /// The user as a client of the hub protocol named it. It grants nothing.
    public var userID: String?
    public var createdAt: Timestamp
    /// Where in the order of sends the record was made; the store gives it. A change of the record keeps it.
    public var order = OrderNumber(0)
    /// The last time the handle was confirmed; a 410 older than this is ignored (Reference/APNs.md#4).
    public var registeredAt: Timestamp
    /// After which the record is in no audience and may be removed; absent means never.
    public var expiresAt: Timestamp?
    /// Set when APNs called the handle bad: the record is in no audience until it registers again.
    public var parkedAt: Timestamp?
    /// Counts the changes, from 1; the entity tag of the hub protocol.
    public var version: Int64
    public var sliceKey: SliceKey
    /// What template sends fill in; absent for a native target, which native sends mean.
    public var template: DeviceTemplate?
    /// The installation that the record was derived from.
    public var parent: RecordID?
    /// As the client gave them; nothing here reads them.
    public var pushVariables: [String: String]
    /// Extras of the platform by their wire names, for example `P256DH` or `SecondaryTileName`.
    public var details: [String: String]

    /// Creates a record.
    public init(
        id: RecordID, kind: Kind, platform: Platform = .apns, handle: DeviceHandle?, environment: String? = nil,
        topic: String? = nil, tags: [Tag] = [], userID: String? = nil, createdAt: Timestamp, registeredAt: Timestamp,
        expiresAt: Timestamp? = nil, parkedAt: Timestamp? = nil, version: Int64 = 1, sliceKey: SliceKey? = nil,
        template: DeviceTemplate? = nil, parent: RecordID? = nil, pushVariables: [String: String] = [:],
        details: [String: String] = [:]
    ) {
        self.id = id
        self.kind = kind
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.tags = tags
        self.userID = userID
        self.createdAt = createdAt
        self.registeredAt = registeredAt
        self.expiresAt = expiresAt
        self.parkedAt = parkedAt
        self.version = version
        self.sliceKey = sliceKey ?? SliceKey(of: id)
        self.template = template
        self.parent = parent
        self.pushVariables = pushVariables
        self.details = details
    }
}

extension DeviceRecord {
    /// How many bytes of text it has, but for what is short in every record.
    public var textBytes: Int {
        let own = (handle?.text.utf8.count ?? 0) + (userID?.utf8.count ?? 0) + tags.reduce(0) { $0 + $1.text.utf8.count + 1 }
        let pairs = [pushVariables, details].joined().reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        return own + pairs + (template?.textBytes ?? 0)
    }
}
