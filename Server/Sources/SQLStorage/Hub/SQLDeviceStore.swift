import PushHub
import RichPushModel

/// The devices of hubs.
public struct SQLDeviceStore: DeviceStore {
    private let database: any SQLDatabase

    /// Creates the store.
    public init(_ database: any SQLDatabase) { self.database = database }

    public func upsert(_ request: DeviceUpsert, in hub: HubID, at now: Timestamp) async throws -> StoredDevice {
        try await database.writing { connection in
            let replaced = try Self.removeSameHandle(request, hub, connection)
            let old = try Self.find(request.id, hub, connection)
            let record = try Self.record(request, old: old, hub, now, connection)
            try connection.run(old == nil ? Self.insert : Self.update, Self.values(record, hub))
            try DeviceRows.reindex(from: old, to: record, in: hub, connection)
            return StoredDevice(record: record, replaced: replaced)
        }
    }

    public func device(_ id: RecordID, in hub: HubID) async throws -> DeviceRecord? {
        try await database.reading { try Self.find(id, hub, $0) }
    }

    public func remove(_ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID) async throws -> Bool {
        try await database.writing { connection in
            let found = try Self.find(id, hub, connection)
            try precondition.check(found?.version)
            guard let record = found else { return false }
            try DeviceRows.remove(record, in: hub, connection)
            return true
        }
    }

    public func devices(
        with handle: DeviceHandle, platform: Platform, in hub: HubID, limit: Int
    ) async throws -> [DeviceRecord] {
        try await database.reading { connection in
            try connection.rows(
                Self.selectByHandle,
                [.integer(hub.number), .text(platform.rawValue), .text(handle.text), .integer(Int64(limit))]
            ).map(DeviceRows.record)
        }
    }

    public func count(in hub: HubID) async throws -> Int {
        try await database.reading { Int(try $0.row(Self.count, [.integer(hub.number)])?.integer(0) ?? 0) }
    }
}

extension SQLDeviceStore {
    private static func find(_ id: RecordID, _ hub: HubID, _ connection: any SQLConnection) throws -> DeviceRecord? {
        try connection.row(select, [.integer(hub.number), .text(id.text)]).map(DeviceRows.record)
    }

    private static func removeSameHandle(
        _ request: DeviceUpsert, _ hub: HubID, _ connection: any SQLConnection
    ) throws -> [RecordID] {
        guard request.replacesSameHandle, let handle = request.handle else { return [] }
        let others = try connection.rows(
            selectOthers,
            [.integer(hub.number), .text(request.platform.rawValue), .text(handle.text), .text(request.id.text)]
        ).map(DeviceRows.record)
        for other in others { try DeviceRows.remove(other, in: hub, connection) }
        return others.map(\.id)
    }

    private static func record(
        _ request: DeviceUpsert, old: DeviceRecord?, _ hub: HubID, _ now: Timestamp, _ connection: any SQLConnection
    ) throws -> DeviceRecord {
        DeviceRecord(
            id: request.id, kind: request.kind, platform: request.platform, handle: request.handle,
            environment: request.environment, topic: request.topic, tags: request.tags, userID: request.userID,
            createdAt: old?.createdAt ?? now, registeredAt: now, expiresAt: request.expiresAt, version: (old?.version ?? 0) + 1,
            sliceKey: try old?.sliceKey ?? freeKey(for: request.id, hub, connection))
    }

    /// The record's own key, or the next that is free when two ids meet.
    private static func freeKey(for id: RecordID, _ hub: HubID, _ connection: any SQLConnection) throws -> SliceKey {
        var key = SliceKey(of: id)
        while try connection.row(selectKey, [.integer(hub.number), .integer(key.number)]) != nil { key = key.next }
        return key
    }

    private static func values(_ record: DeviceRecord, _ hub: HubID) -> [SQLValue] {
        [
            .integer(hub.number), .integer(record.sliceKey.number), .text(record.id.text), .text(record.kind.rawValue),
            .text(record.platform.rawValue), .optional(record.handle?.text), .optional(record.environment),
            .optional(record.topic), .text(DeviceRows.text(record.tags)), .optional(record.userID),
            .integer(record.createdAt.milliseconds), .integer(record.registeredAt.milliseconds),
            .optional(record.expiresAt?.milliseconds), .integer(record.version),
        ]
    }

    static let all = [select, selectKey, selectByHandle, selectOthers, count, insert, update]

    private static let select = SQLStatement(
        composed: "SELECT \(DeviceRows.columns) FROM devices WHERE hub_id = $1 AND record_id = $2")
    private static let selectKey = SQLStatement("SELECT 1 FROM devices WHERE hub_id = $1 AND slice_key = $2")
    private static let selectByHandle = SQLStatement(
        composed: """
            SELECT \(DeviceRows.columns) FROM devices WHERE hub_id = $1 AND platform = $2 AND handle = $3
            ORDER BY slice_key LIMIT $4
            """)
    private static let selectOthers = SQLStatement(
        composed: """
            SELECT \(DeviceRows.columns) FROM devices
            WHERE hub_id = $1 AND platform = $2 AND handle = $3 AND record_id <> $4
            """)
    private static let count = SQLStatement("SELECT COUNT(*) FROM devices WHERE hub_id = $1")
    private static let insert = SQLStatement(
        """
        INSERT INTO devices (hub_id, slice_key, record_id, kind, platform, handle, environment, topic, tags, user_id, created_at,
            registered_at, expires_at, version)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """)
    private static let update = SQLStatement(
        """
        UPDATE devices SET record_id = $3, kind = $4, platform = $5, handle = $6, environment = $7, topic = $8, tags = $9,
            user_id = $10, created_at = $11, registered_at = $12, expires_at = $13, version = $14, parked_at = NULL
        WHERE hub_id = $1 AND slice_key = $2
        """)
}
