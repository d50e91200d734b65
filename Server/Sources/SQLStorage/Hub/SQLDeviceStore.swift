import PushHub
import RichPushModel
import ServiceErrors

/// The devices of hubs.
public struct SQLDeviceStore: DeviceStore {
    let database: any SQLDatabase

    /// Creates the store.
    public init(_ database: any SQLDatabase) { self.database = database }

    public func upsert(
        _ request: DeviceUpsert, in hub: HubID, at now: Timestamp, allowing: ReplacementCheck?
    ) async throws -> StoredDevice {
        try await database.writing { connection in
            try Self.check(allowing, request.id, in: hub, connection)
            return try Self.upsert(request, in: hub, at: now, connection)
        }
    }

    /// The same within a transaction. A refusal leaves nothing written.
    static func upsert(
        _ request: DeviceUpsert, in hub: HubID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> StoredDevice {
        let old = try DeviceRows.find(request.id, in: hub, connection)
        try request.precondition.check(old?.record.version)
        if let old { try clear(old, for: request, hub, connection) }
        let replaced = try removeSameHandle(request, hub, connection)
        let record = try DeviceWriting(hub: hub, connection: connection).put(record(request, over: old, now), over: old)
        return StoredDevice(record: record, replaced: replaced)
    }

    public func device(_ id: RecordID, in hub: HubID) async throws -> DeviceRecord? {
        try await database.reading { connection in
            guard let row = try DeviceRows.find(id, in: hub, connection) else { return nil }
            return try TemplateRows.filled([row], in: hub, connection).first
        }
    }

    public func remove(
        _ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID, allowing: ReplacementCheck?
    ) async throws -> Bool {
        try await database.writing { connection in
            try Self.check(allowing, id, in: hub, connection)
            return try Self.remove(id, expecting: precondition, in: hub, connection)
        }
    }

    /// The same within a transaction. A refusal leaves nothing written.
    static func remove(
        _ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID, _ connection: any SQLConnection
    ) throws -> Bool {
        let found = try DeviceRows.find(id, in: hub, connection)
        try precondition.check(found?.record.version)
        guard let row = found else { return false }
        try DeviceRows.remove(row, in: hub, connection)
        return true
    }

    public func devices(
        with handle: DeviceHandle, platform: Platform, in hub: HubID, limit: Int
    ) async throws -> [DeviceRecord] {
        let request = DeviceListRequest(.handles([handle], platform: platform), limit: limit)
        return try await devices(request, in: hub).records
    }

    public func count(in hub: HubID) async throws -> Int {
        try await database.reading { Int(try $0.row(Self.count, [.integer(hub.number)])?.integer(0) ?? 0) }
    }

    public func sweep(expiredBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { connection in
            let values: [SQLValue] = [.integer(moment.milliseconds), .integer(Int64(limit))]
            let expired = try connection.rows(Self.selectExpired, values).map {
                (hub: HubID(try $0.integer(0)), key: SliceKey(try $0.integer(1)))
            }
            // One of them may go with another.
            for (hub, key) in expired {
                if let row = try DeviceRows.find(key, in: hub, connection) { try DeviceRows.remove(row, in: hub, connection) }
            }
            return expired.count
        }
    }
}

extension SQLDeviceStore {
    /// What an installation of that name has besides goes with what the request replaces.
    private static func clear(
        _ old: DeviceRow, for request: DeviceUpsert, _ hub: HubID, _ connection: any SQLConnection
    ) throws {
        guard old.record.kind == .installation else { return }
        if old.record.parent != nil { throw Self.belongsToAnInstallation }
        if request.kind == .registration { throw Self.belongsToAnInstallation }
        for row in try DeviceRows.derived(from: old.record.id, in: hub, connection) {
            try DeviceRows.removeAlone(row, in: hub, connection)
        }
    }

    private static let belongsToAnInstallation = ServiceError(
        .conflict, "this record belongs to an installation; change the installation instead")

    private static func removeSameHandle(
        _ request: DeviceUpsert, _ hub: HubID, _ connection: any SQLConnection
    ) throws -> [RecordID] {
        guard request.replacesSameHandle, let handle = request.handle else { return [] }
        let others = try connection.rows(
            selectOthers,
            [.integer(hub.number), .text(request.platform.rawValue), .text(handle.text), .text(request.id.text)]
        ).map(DeviceRow.init)
        for other in others { try DeviceRows.remove(other, in: hub, connection) }
        return others.filter { $0.record.parent == nil }.map(\.record.id)
    }

    private static func record(_ request: DeviceUpsert, over old: DeviceRow?, _ now: Timestamp) -> DeviceRecord {
        DeviceRecord(
            id: request.id, kind: request.kind, platform: request.platform, handle: request.handle,
            environment: request.environment, topic: request.topic, tags: request.tags, userID: request.userID,
            createdAt: old?.record.createdAt ?? now, registeredAt: now, expiresAt: request.expiresAt,
            version: (old?.record.version ?? 0) + 1, template: request.template, pushVariables: request.pushVariables,
            details: request.details)
    }

    static let all = [selectOthers, count, selectExpired] + listStatements

    private static let selectOthers = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND platform = $2 AND handle = $3 AND record_id <> $4
            """)
    private static let count = SQLStatement("SELECT COUNT(*) FROM devices WHERE hub_id = $1")
    private static let selectExpired = SQLStatement(
        "SELECT hub_id, slice_key FROM devices WHERE expires_at < $1 ORDER BY expires_at LIMIT $2")
}
