import PushHub
import RichPushModel
import ServiceErrors

extension SQLDeviceStore {
    public func put(
        _ installation: InstallationUpsert, in hub: HubID, at now: Timestamp, allowing: ReplacementCheck?
    ) async throws -> DeviceInstallation {
        try await database.writing { connection in
            try Self.check(allowing, installation.id, in: hub, connection)
            return try Self.store(installation, hub, now, connection)
        }
    }

    public func installation(_ id: RecordID, in hub: HubID) async throws -> DeviceInstallation? {
        try await database.reading { try Self.read(id, hub, $0) }
    }

    public func removeInstallation(_ id: RecordID, in hub: HubID, allowing: ReplacementCheck?) async throws -> Bool {
        try await database.writing { connection in
            // A record of another kind stays, so what tags it has is no business of this call.
            guard let row = try DeviceRows.find(id, in: hub, connection), row.isInstallation else { return false }
            try Self.check(allowing, id, in: hub, connection)
            try DeviceRows.remove(row, in: hub, connection)
            return true
        }
    }

    public func update(
        _ id: RecordID, in hub: HubID, at now: Timestamp,
        _ transform: @escaping @Sendable (DeviceInstallation) throws -> InstallationUpsert
    ) async throws -> DeviceInstallation? {
        try await database.writing { connection in
            guard let current = try Self.read(id, hub, connection) else { return nil }
            return try Self.store(try transform(current), hub, now, connection)
        }
    }

    /// Asks whether a record may be replaced or removed, if there is one.
    static func check(
        _ allowing: ReplacementCheck?, _ id: RecordID, in hub: HubID, _ connection: any SQLConnection
    ) throws {
        guard let allowing, let record = try DeviceRows.find(id, in: hub, connection)?.record else { return }
        try allowing(record, try read(record.parent ?? id, hub, connection))
    }

    /// Adds a part to its installation; the record that the part stands for, as it is stored then.
    static func merge(
        _ part: InstallationPart, in hub: HubID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> DeviceRecord? {
        let id = part.content.id
        let merged = try part.merged(into: try read(id, hub, connection)?.content)
        let installation = try store(merged, hub, now, connection)
        guard let name = part.content.templates.keys.first else { return try DeviceRows.find(id, in: hub, connection)?.record }
        let derived = RecordID.derived(from: installation.id, tile: nil, template: name)
        guard let row = try DeviceRows.find(derived, in: hub, connection) else { return nil }
        return try TemplateRows.filled([row], in: hub, connection).first
    }

    private static func read(_ id: RecordID, _ hub: HubID, _ connection: any SQLConnection) throws -> DeviceInstallation? {
        guard let native = try DeviceRows.find(id, in: hub, connection), native.isInstallation else { return nil }
        let derived = try DeviceRows.derived(from: id, in: hub, connection)
        let records = try TemplateRows.filled(derived, in: hub, connection)
        return DeviceInstallation(native: native.record, derived: Array(zip(records, derived.map(\.ownTags))))
    }

    private static func store(
        _ installation: InstallationUpsert, _ hub: HubID, _ now: Timestamp, _ connection: any SQLConnection
    ) throws -> DeviceInstallation {
        let old = try DeviceRows.find(installation.id, in: hub, connection)
        var derived: [RecordID: DeviceRow] = [:]
        if let old {
            guard old.isInstallation else { throw Self.isARegistration }
            for row in try DeviceRows.derived(from: installation.id, in: hub, connection) { derived[row.record.id] = row }
        }
        let plan = plan(installation, over: old?.record, now)
        // What goes makes room first, so that a handle never counts as shared with a record that is about to go.
        let kept = Set(plan.parts.map(\.record.id))
        for row in derived.values where !kept.contains(row.record.id) && !row.record.platform.isTokenKind {
            try DeviceRows.removeAlone(row, in: hub, connection)
        }
        let writing = DeviceWriting(hub: hub, connection: connection)
        for part in plan.parts {
            var record = part.record
            let before = record.parent == nil ? old : derived[record.id]
            record.createdAt = before?.record.createdAt ?? now
            record.zone = before?.record.zone ?? .unknown
            record.languages = before?.record.languages ?? record.languages
            _ = try writing.put(record, ownTags: part.ownTags, over: before)
        }
        return DeviceInstallation(
            native: plan.parts[0].record, derived: plan.parts.dropFirst().map { ($0.record, $0.ownTags ?? []) })
    }

    private static let isARegistration = ServiceError(
        .conflict, "this is the id of a registration; an installation needs another")

    /// A handle that differs is confirmed; one that does not keeps what is known of it unless the caller says otherwise.
    private static func plan(_ installation: InstallationUpsert, over old: DeviceRecord?, _ now: Timestamp) -> InstallationPlan {
        let isSame = old?.handle == installation.handle && old?.platform == installation.platform
        let known = installation.confirmsHandle || !isSame ? nil : old
        return InstallationPlan(
            installation, createdAt: old?.createdAt ?? now, registeredAt: known?.registeredAt ?? now,
            inactiveAt: known?.inactiveAt,
            version: (old?.version ?? 0) + 1)
    }
}

extension DeviceRow {
    /// Whether this is the native record of an installation.
    fileprivate var isInstallation: Bool { record.kind == .installation && record.parent == nil }
}

/// The records that an installation is made of: its native one first, then those of its tiles and templates.
private struct InstallationPlan {
    /// A record to be, with the tags that are its own.
    struct Part {
        var record: DeviceRecord
        var ownTags: [Tag]?
    }

    let parts: [Part]

    /// `registeredAt` and `inactiveAt` are those of the handle; derived records get their own `createdAt` when they are stored.
    init(
        _ installation: InstallationUpsert, createdAt: Timestamp, registeredAt: Timestamp, inactiveAt: Timestamp?, version: Int64
    ) {
        var native = DeviceRecord(
            id: installation.id, kind: .installation, platform: installation.platform, handle: installation.handle,
            environment: installation.environment, topic: installation.topic, tags: installation.tags,
            userID: installation.userID, createdAt: createdAt, registeredAt: registeredAt, expiresAt: installation.expiresAt,
            inactiveAt: inactiveAt, version: version, pushVariables: installation.pushVariables, details: installation.details)
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
            isHandleExpired: native.inactiveAt != nil, version: native.version)
    }
}
