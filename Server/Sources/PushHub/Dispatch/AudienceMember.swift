import RichPushModel

/// A target of a send as the dispatcher needs it: what sending takes of a record, and no more.
///
/// The texts of a page's members lie in one piece of memory and become strings when they are asked for. A million members with
/// strings of their own cost more to make, on one thread, and to free, on another, than to send to.
public struct AudienceMember: Sendable {
    /// Where it stands in the walk: the slice key of its record, or the position of a handle in a direct send.
    public var key: SliceKey { entry.key }
    public var platform: Platform { texts.platforms[entry.platform] }
    /// When the handle was confirmed. One of a direct send never was.
    public var registeredAt: Timestamp { entry.registeredAt }
    public var version: Int64 { entry.version }
    /// What is filled in for it, in a template send.
    public var template: TemplateID? { entry.template }
    private var entry: AudienceTexts.Entry
    private let texts: AudienceTexts

    private var extent: AudienceTexts.Extent { entry.extent }

    init(_ entry: AudienceTexts.Entry, in texts: AudienceTexts) {
        self.entry = entry
        self.texts = texts
    }

    /// Makes it another member of the same page, whose texts are not counted again for that.
    mutating func become(_ entry: AudienceTexts.Entry) { self.entry = entry }

    public var handle: DeviceHandle { DeviceHandle(canonical: texts.text(extent.handle)) }

    /// Absent in a direct send.
    public var record: RecordID? { extent.record.isEmpty ? nil : RecordID(trusted: texts.text(extent.record)) }

    /// `sandbox` or `production`; absent means the hub's default.
    public var environment: String? { extent.environment.isEmpty ? nil : texts.text(extent.environment) }

    /// The APNs topic; absent means the hub's default.
    public var topic: String? { extent.topic.isEmpty ? nil : texts.text(extent.topic) }

    /// Whether it has the other's template, environment and topic.
    func isAlike(_ other: AudienceMember) -> Bool {
        guard template == other.template, extent.environment.count == other.extent.environment.count else { return false }
        return texts.bytes.withUnsafeBytes { own in
            other.texts.bytes.withUnsafeBytes { others in
                // One behind the other: equal in the first length and in all bytes, they are equal each.
                own[extent.destination].elementsEqual(others[other.extent.destination])
            }
        }
    }

    /// Whether this is a text of a direct send that is no handle of its platform; records have true ones.
    var isMalformed: Bool { extent.record.isEmpty && DeviceHandle(handle.text, platform: platform) == nil }

    /// The bytes of the record's name where they lie; `nil` in a direct send.
    func withRecordBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard !extent.record.isEmpty else { return nil }
        return texts.bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[extent.record])) }
    }
}

extension AudienceMember {
    /// The member among others, whose texts are in `bytes`.
    func entry(puttingTextsBehind bytes: inout [UInt8], _ platforms: inout PlatformTable) -> AudienceTexts.Entry {
        var moved = entry
        moved.extent = extent.moved(from: texts.bytes, behind: &bytes)
        moved.platform = platforms.place(of: platform)
        return moved
    }

    /// Creates a member by itself.
    public init(
        key: SliceKey, record: RecordID?, platform: Platform, handle: DeviceHandle, environment: String? = nil,
        topic: String? = nil, registeredAt: Timestamp, version: Int64 = 1, template: TemplateID? = nil
    ) {
        var texts: [UInt8] = []
        let extent = AudienceTexts.Extent(
            handle: handle.text, record: record?.text, environment: environment, topic: topic, in: &texts)
        var platforms = PlatformTable()
        let entry = AudienceTexts.Entry(
            key: key, platform: platforms.place(of: platform), registeredAt: registeredAt, version: version, template: template,
            extent: extent)
        self.init(entry, in: AudienceTexts(texts, platforms))
    }

    /// A handle of a direct send.
    public init(handle: DeviceHandle, platform: Platform, position: Int64) {
        self.init(
            key: SliceKey(position), record: nil, platform: platform, handle: handle,
            registeredAt: Timestamp(milliseconds: .min), version: 0)
    }

    /// A record; `nil` for one without a handle.
    public init?(_ record: DeviceRecord, template: TemplateID? = nil) {
        guard let handle = record.handle else { return nil }
        self.init(
            key: record.sliceKey, record: record.id, platform: record.platform, handle: handle,
            environment: record.environment, topic: record.topic, registeredAt: record.registeredAt,
            version: record.version, template: template)
    }
}

extension AudienceMember: Hashable {
    public static func == (left: AudienceMember, right: AudienceMember) -> Bool {
        left.key == right.key && left.record == right.record && left.platform == right.platform && left.handle == right.handle
            && left.environment == right.environment && left.topic == right.topic && left.registeredAt == right.registeredAt
            && left.version == right.version && left.template == right.template
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(handle)
        hasher.combine(version)
    }
}
