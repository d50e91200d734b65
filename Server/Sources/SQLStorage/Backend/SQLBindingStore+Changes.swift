import AppBackend
import PushHub
import RichPushModel

extension SQLBindingStore {
    public func begin(_ change: DeviceChange, at now: Timestamp) async throws {
        try await database.writing { [app] in try Self.begin(change, app, at: now, $0) }
    }

    static func begin(_ change: DeviceChange, _ app: AppID, at now: Timestamp, _ connection: any SQLConnection) throws {
        try connection.run(insertChange, key(change, app) + [.integer(now.milliseconds)])
    }

    public func end(_ change: DeviceChange) async throws {
        _ = try await database.writing { [app] in try $0.run(Self.deleteChange, Self.key(change, app)) }
    }

    public func unended(begunBefore moment: Timestamp, limit: Int) async throws -> [RecordID] {
        try await database.reading { [app] connection in
            let key: [SQLValue] = [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(limit))]
            return try connection.rows(Self.selectUnended, key).map { row in
                guard let record = RecordID(try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
                return record
            }
        }
    }

    public func endAll(of record: RecordID, begunBefore moment: Timestamp) async throws {
        _ = try await database.writing { [app] connection in
            try connection.run(
                Self.deleteChanges, [.integer(app.number), .text(record.text), .integer(moment.milliseconds)])
        }
    }

    private static func key(_ change: DeviceChange, _ app: AppID) -> [SQLValue] {
        [.integer(app.number), .text(change.record.text), .integer(change.mark)]
    }

    static let changeStatements = [insertChange, deleteChange, selectUnended, deleteChanges]

    private static let insertChange = SQLStatement(
        "INSERT INTO device_changes (app_id, record_id, mark, begun_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
    private static let deleteChange = SQLStatement(
        "DELETE FROM device_changes WHERE app_id = $1 AND record_id = $2 AND mark = $3")
    private static let selectUnended = SQLStatement(
        """
        SELECT record_id, MIN(begun_at) AS oldest FROM device_changes WHERE app_id = $1 AND begun_at < $2
        GROUP BY record_id ORDER BY oldest, record_id LIMIT $3
        """)
    private static let deleteChanges = SQLStatement(
        "DELETE FROM device_changes WHERE app_id = $1 AND record_id = $2 AND begun_at < $3")
}
