import RichPushModel

/// A target of a send as the dispatcher needs it: what sending takes of a record, and no more.
public struct AudienceMember: Hashable, Sendable {
    /// Where it stands in the walk: the slice key of its record, or the position of a handle in a direct send.
    public var key: SliceKey
    /// Absent in a direct send.
    public var record: RecordID?
    /// The installation that the record belongs to, if any.
    public var installation: RecordID?
    public var platform: Platform
    public var handle: DeviceHandle
    /// `sandbox` or `production`; absent means the hub's default.
    public var environment: String?
    /// The APNs topic; absent means the hub's default.
    public var topic: String?
    /// When the handle was confirmed. One of a direct send never was.
    public var registeredAt: Timestamp
    public var version: Int64
    /// What is filled in for it, in a template send.
    public var template: TemplateID?

    /// Creates a member.
    public init(
        key: SliceKey, record: RecordID?, installation: RecordID? = nil, platform: Platform, handle: DeviceHandle,
        environment: String? = nil, topic: String? = nil, registeredAt: Timestamp, version: Int64 = 1,
        template: TemplateID? = nil
    ) {
        self.key = key
        self.record = record
        self.installation = installation
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.registeredAt = registeredAt
        self.version = version
        self.template = template
    }

    /// A handle of a direct send.
    public init(handle: DeviceHandle, platform: Platform, position: Int64) {
        self.init(
            key: SliceKey(position), record: nil, platform: platform, handle: handle,
            registeredAt: Timestamp(milliseconds: .min), version: 0)
    }

    /// Whether this is a text of a direct send that is no handle of its platform; records have true ones.
    var isMalformed: Bool { record == nil && DeviceHandle(handle.text, platform: platform) == nil }

    /// A record; `nil` for one without a handle.
    public init?(_ record: DeviceRecord, template: TemplateID? = nil) {
        guard let handle = record.handle else { return nil }
        self.init(
            key: record.sliceKey, record: record.id, installation: record.installation, platform: record.platform,
            handle: handle, environment: record.environment, topic: record.topic, registeredAt: record.registeredAt,
            version: record.version, template: template)
    }
}
