import RichPushModel

/// A target of a send as the dispatcher needs it: what sending takes of a record, and no more.
///
/// A class because a member goes from page to plan to batch to count: to copy its texts at each step costs more than to send.
public final class AudienceMember: Sendable {
    /// Where it stands in the walk: the slice key of its record, or the position of a handle in a direct send.
    public let key: SliceKey
    /// Absent in a direct send.
    public let record: RecordID?
    /// The installation that the record belongs to, if any.
    public let installation: RecordID?
    public let platform: Platform
    public let handle: DeviceHandle
    /// `sandbox` or `production`; absent means the hub's default.
    public let environment: String?
    /// The APNs topic; absent means the hub's default.
    public let topic: String?
    /// When the handle was confirmed. One of a direct send never was.
    public let registeredAt: Timestamp
    public let version: Int64
    /// What is filled in for it, in a template send.
    public let template: TemplateID?

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
    public convenience init(handle: DeviceHandle, platform: Platform, position: Int64) {
        self.init(
            key: SliceKey(position), record: nil, platform: platform, handle: handle,
            registeredAt: Timestamp(milliseconds: .min), version: 0)
    }

    /// Whether this is a text of a direct send that is no handle of its platform; records have true ones.
    var isMalformed: Bool { record == nil && DeviceHandle(handle.text, platform: platform) == nil }

    /// A record; `nil` for one without a handle.
    public convenience init?(_ record: DeviceRecord, template: TemplateID? = nil) {
        guard let handle = record.handle else { return nil }
        self.init(
            key: record.sliceKey, record: record.id, installation: record.installation, platform: record.platform,
            handle: handle, environment: record.environment, topic: record.topic, registeredAt: record.registeredAt,
            version: record.version, template: template)
    }
}

extension AudienceMember: Hashable {
    public static func == (left: AudienceMember, right: AudienceMember) -> Bool {
        left === right
            || (left.key == right.key && left.record == right.record && left.installation == right.installation
                && left.platform == right.platform && left.handle == right.handle && left.environment == right.environment
                && left.topic == right.topic && left.registeredAt == right.registeredAt && left.version == right.version
                && left.template == right.template)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(handle)
        hasher.combine(version)
    }
}
