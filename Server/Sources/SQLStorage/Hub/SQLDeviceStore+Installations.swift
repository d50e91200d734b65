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
        for row in derived.values where !kept.contains(row.record.id) { try DeviceRows.removeAlone(row, in: hub, connection) }
        let writing = DeviceWriting(hub: hub, connection: connection)
        for part in plan.parts {
            var record = part.record
            let before = record.parent == nil ? old : derived[record.id]
            record.createdAt = before?.record.createdAt ?? now
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
            installation, createdAt: old?.createdAt ?? now, registeredAt: known?.registeredAt ?? now, parkedAt: known?.parkedAt,
            version: (old?.version ?? 0) + 1)
    }
}

extension DeviceRow {
    /// Whether this is the native record of an installation.
    fileprivate var isInstallation: Bool { record.kind == .installation && record.parent == nil }
}
