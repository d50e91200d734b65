import PushHub
import RichPushModel

extension SQLHubStore {
    public func removeHub(named name: HubName, at now: Timestamp) async throws -> HubID? {
        try await database.writing { connection in
            let values: [SQLValue] = [.text(name.folded), .integer(now.milliseconds)]
            guard let number = try connection.rows(Self.remove, values).first?.integer(0) else { return nil }
            try connection.run(Self.deleteRules, [.integer(number)])
            return HubID(number)
        }
    }

    public func removedHubs() async throws -> [RemovedHub] {
        try await database.reading { connection in
            try connection.rows(Self.selectRemoved, []).map { row in
                RemovedHub(id: HubID(try row.integer(0)), removedAt: Timestamp(milliseconds: try row.integer(1)))
            }
        }
    }

    public func clear(_ hub: HubID, limit: Int) async throws -> Int {
        var count = 0
        // One transaction for each kind keeps every one of them short.
        for statement in Self.clearing {
            count += try await database.writing { try $0.run(statement, [.integer(hub.number), .integer(Int64(limit))]) }
        }
        return count
    }

    public func forget(_ hub: HubID) async throws {
        _ = try await database.writing { try $0.run(Self.setCleared, [.integer(hub.number)]) }
    }

    /// Work that waits goes first, so that nothing of a removed hub is sent any more.
    static let clearing: [SQLStatement] = [
        piece("slices", "notification_id, slice"),
        piece("pending_targets", "notification_id, slice, slice_key"),
        piece("idempotency_keys", "idempotency_key"),
        piece("tallies", "notification_id, slice, platform, outcome"),
        piece("outcome_reasons", "notification_id, slice, platform, outcome, reason"),
        piece("target_failures", "notification_id, slice, slice_key"),
        piece("direct_handles", "notification_id, position"),
        piece("notifications", "notification_id"),
        piece("feedback", "number"),
        piece("jobs", "number"),
        piece("hub_files", "last_job"),
        piece("device_tags", "tag, slice_key"),
        piece("devices", "slice_key"),
        piece("device_templates", "template_id"),
    ]

    /// Deletes at most `$2` rows of hub `$1`.
    private static func piece(_ table: String, _ key: String) -> SQLStatement {
        SQLStatement(
            composed:
                "DELETE FROM \(table) WHERE hub_id = $1 AND (\(key)) IN (SELECT \(key) FROM \(table) WHERE hub_id = $1 LIMIT $2)")
    }
}
