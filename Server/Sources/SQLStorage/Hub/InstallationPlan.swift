import PushHub
import RichPushModel

/// The records that an installation is made of: its native one first, then those of its tiles and templates.
struct InstallationPlan {
    /// A record to be, with the tags that are its own.
    struct Part {
        var record: DeviceRecord
        var ownTags: [Tag]?
    }

    let parts: [Part]

    /// `registeredAt` and `parkedAt` are those of the handle; derived records get their own `createdAt` when they are stored.
    init(
        _ installation: InstallationUpsert, createdAt: Timestamp, registeredAt: Timestamp, parkedAt: Timestamp?, version: Int64
    ) {
        var native = DeviceRecord(
            id: installation.id, kind: .installation, platform: installation.platform, handle: installation.handle,
            environment: installation.environment, topic: installation.topic, tags: installation.tags,
            userID: installation.userID, createdAt: createdAt, registeredAt: registeredAt, expiresAt: installation.expiresAt,
            parkedAt: parkedAt, version: version, pushVariables: installation.pushVariables, details: installation.details)
        var parts = [Part(record: native, ownTags: nil)]
        native.pushVariables = [:]
        native.parent = installation.id
        parts += Self.templates(installation.templates, of: native, tile: nil)
        for (name, tile) in installation.tiles.sorted(by: { $0.key < $1.key }) {
            var record = native
            record.id = .derived(from: installation.id, tile: name, template: nil)
            record.sliceKey = SliceKey(of: record.id)
            record.handle = tile.handle
            record.details[DeviceRecord.tileDetail] = name
            record.tags = Self.joined(native.tags, tile.tags)
            parts.append(Part(record: record, ownTags: tile.tags))
            parts += Self.templates(tile.templates, of: record, tile: name)
        }
        self.parts = parts
    }

    private static func templates(
        _ templates: [String: InstallationUpsert.Template], of base: DeviceRecord, tile: String?
    ) -> [Part] {
        guard let installation = base.parent else { return [] }
        return templates.sorted { $0.key < $1.key }.map { name, template in
            var record = base
            record.id = .derived(from: installation, tile: tile, template: name)
            record.sliceKey = SliceKey(of: record.id)
            record.template = template.template
            record.template?.name = name
            record.tags = joined(base.tags, template.tags + [Tag(name)].compactMap(\.self))
            return Part(record: record, ownTags: template.tags)
        }
    }

    private static func joined(_ tags: [Tag], _ more: [Tag]) -> [Tag] {
        var seen: Set<Tag> = []
        return (tags + more).filter { seen.insert($0).inserted }
    }
}

extension DeviceInstallation {
    /// Puts an installation together again; the records have their templates.
    init(native: DeviceRecord, derived: [(record: DeviceRecord, ownTags: [Tag])]) {
        var content = InstallationUpsert(
            id: native.id, platform: native.platform, handle: native.handle, environment: native.environment,
            topic: native.topic, userID: native.userID, expiresAt: native.expiresAt, tags: native.tags,
            pushVariables: native.pushVariables, details: native.details, confirmsHandle: false)
        // Tiles first: a template of a tile belongs into it.
        for (record, ownTags) in derived where record.template == nil {
            guard let tile = record.tile, let handle = record.handle else { continue }
            content.tiles[tile] = .init(handle: handle, tags: ownTags)
        }
        for (record, ownTags) in derived {
            guard let template = record.template, let name = template.name else { continue }
            let value = InstallationUpsert.Template(template, tags: ownTags)
            if let tile = record.tile { content.tiles[tile]?.templates[name] = value } else { content.templates[name] = value }
        }
        self.init(
            content: content, createdAt: native.createdAt, registeredAt: native.registeredAt,
            isHandleExpired: native.parkedAt != nil, version: native.version)
    }
}
