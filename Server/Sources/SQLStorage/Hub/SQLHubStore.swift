import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

/// Which hubs there are, with their rules and credentials.
public struct SQLHubStore: HubStore {
    private let database: any SQLDatabase

    public init(_ database: any SQLDatabase) { self.database = database }

    public func hub(named name: String) async throws -> HubID? {
        try await database.reading { try Self.find(name, $0) }
    }

    public func ensureHub(named name: String, at now: Timestamp) async throws -> HubID {
        try await database.writing { connection in
            if let found = try Self.find(name, connection) { return found }
            return try Self.insert(name, title: name, connection, at: now)
        }
    }

    public func create(
        _ name: HubName, with content: StoredHubChange, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> HubRecord? {
        try await database.writing { connection in
            guard try Self.find(name.folded, connection) == nil else { return nil }
            let id = try Self.insert(name.folded, title: name.text, connection, at: now)
            try Self.describe(id, content.details ?? HubDetails(), connection)
            try Self.write(content.credentials, of: id, connection)
            for rule in content.rules ?? [] { try Self.write(rule, of: id, connection) }
            if let entry { try AuditRows.insert(entry, connection) }
            return try Self.record(of: id, connection)
        }
    }

    public func record(named name: HubName) async throws -> HubRecord? {
        try await database.reading { try $0.row(Self.selectNamed, [.text(name.folded)]).map(Self.record) }
    }

    public func record(of id: HubID) async throws -> HubRecord? {
        try await database.reading { try Self.record(of: id, $0) }
    }

    public func records(after name: HubName?, limit: Int) async throws -> [HubRecord] {
        try await database.reading { connection in
            try connection.rows(Self.selectPage, [.text(name?.folded ?? ""), .integer(Int64(limit))]).map(Self.record)
        }
    }

    public func update(
        _ id: HubID, with change: StoredHubChange, ifVersion version: Int64?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> HubRecord? {
        try await database.writing { connection in
            guard try Self.touch(id, connection, at: now) else { return nil }
            // After the write, which waits for every other one of this hub.
            if let version, try Self.record(of: id, connection)?.version != version + 1 {
                throw ServiceError(.conflict, "the hub was changed meanwhile; read it and do it again")
            }
            if let details = change.details { try Self.describe(id, details, connection) }
            try Self.write(change.credentials, of: id, connection)
            if change.credentials.values.contains(where: { $0 != nil }) {
                try Self.wake(id, at: now + HubCatalog.freshness, connection)
            }
            if let rules = change.rules {
                try connection.run(Self.deleteRules, [.integer(id.number)])
                for rule in rules { try Self.write(rule, of: id, connection) }
            }
            if let entry { try AuditRows.insert(entry, connection) }
            return try Self.record(of: id, connection)
        }
    }

    /// Writes a row unchanged, to check whether the database keeps writes.
    public func rewrite(_ hub: HubID) async throws {
        _ = try await database.writing { try $0.run(Self.rewrite, [.integer(hub.number)]) }
    }

    /// Makes what waits after a failure due at the moment, if it would wait longer.
    private static func wake(_ id: HubID, at moment: Timestamp, _ connection: any SQLConnection) throws {
        let values: [SQLValue] = [.integer(id.number), .integer(moment.milliseconds)]
        try connection.run(wakeSlices, values)
        try connection.run(wakeTargets, values)
    }

    private static func write(
        _ credentials: [Platform: String?], of id: HubID, _ connection: any SQLConnection
    ) throws {
        for (platform, sealed) in credentials {
            guard let statement = setCredential[platform] else { continue }
            try connection.run(statement, [.integer(id.number), .optional(sealed)])
        }
    }

    /// Counts the version up; `false` when there is no such hub.
    private static func touch(_ id: HubID, _ connection: any SQLConnection, at now: Timestamp) throws -> Bool {
        try connection.run(count, [.integer(id.number), .integer(now.milliseconds)]) > 0
    }

    private static func find(_ name: String, _ connection: any SQLConnection) throws -> HubID? {
        try connection.row(select, [.text(name)]).map { HubID(try $0.integer(0)) }
    }

    private static func insert(
        _ name: String, title: String, _ connection: any SQLConnection, at now: Timestamp
    ) throws -> HubID {
        let values: [SQLValue] = [.text(name), .text(title), .integer(now.milliseconds)]
        guard let id = try connection.rows(insert, values).first?.integer(0) else { throw SQLFault.unexpectedColumn(0) }
        return HubID(id)
    }

    private static func describe(_ id: HubID, _ details: HubDetails, _ connection: any SQLConnection) throws {
        try connection.run(
            describe,
            [
                .integer(id.number), .optional(details.userMetadata),
                .optional(details.registrationLifetime?.wholeMilliseconds), .integer(details.allowsProtectedTags ? 1 : 0),
            ])
    }

    private static func record(of id: HubID, _ connection: any SQLConnection) throws -> HubRecord? {
        try connection.row(selectNumbered, [.integer(id.number)]).map(record)
    }

    private static func record(_ row: SQLRow) throws -> HubRecord {
        let title = try row.optionalText(2) ?? row.text(1)
        guard let name = HubName(title) else { throw SQLFault.unexpectedColumn(2) }
        let created = Timestamp(milliseconds: try row.integer(6))
        var sealed: [Platform: String] = [:]
        for (place, column) in credentialColumns.enumerated() { sealed[column.platform] = try row.optionalText(9 + place) }
        return HubRecord(
            id: HubID(try row.integer(0)), name: name,
            details: HubDetails(
                userMetadata: try row.optionalText(3),
                registrationLifetime: try row.optionalInteger(4).map(Duration.milliseconds),
                allowsProtectedTags: try row.integer(5) != 0),
            sealedCredentials: sealed, createdAt: created,
            updatedAt: try row.optionalInteger(7).map(Timestamp.init(milliseconds:)) ?? created, version: try row.integer(8))
    }
}

/// The access rules of hubs. Number 0 stands for all hubs; a hub's own number begins with 1.
extension SQLHubStore {
    private static let allHubs: Int64 = 0

    public func rules(of hub: HubID?) async throws -> [SealedAccessRule] {
        try await database.reading { try $0.rows(Self.selectRules, [.integer(hub?.number ?? Self.allHubs)]).map(Self.rule) }
    }

    public func put(
        _ rule: SealedAccessRule, of hub: HubID?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool {
        try await database.writing { connection in
            if let hub, try !Self.touch(hub, connection, at: now) { return false }
            try Self.write(rule, of: hub, connection)
            if let entry { try AuditRows.insert(entry, connection) }
            return true
        }
    }

    public func setKey(
        _ sealed: String, in place: HubRegistry.KeyPlace, ofRule name: String, of hub: HubID?, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> SealedAccessRule? {
        try await database.writing { connection in
            let number = SQLValue.integer(hub?.number ?? Self.allHubs)
            let statement = place == .primary ? Self.setPrimaryKey : Self.setSecondaryKey
            let values: [SQLValue] = [number, .text(name), .text(sealed), .integer(now.milliseconds)]
            guard try connection.run(statement, values) > 0 else { return nil }
            if let hub { _ = try Self.touch(hub, connection, at: now) }
            if let entry { try AuditRows.insert(entry, connection) }
            return try connection.rows(Self.selectRules, [number]).map(Self.rule).first { $0.name == name }
        }
    }

    public func beginRules(_ rules: [SealedAccessRule], of hub: HubID, forAll root: SealedAccessRule) async throws {
        try await database.writing { connection in
            if try connection.rows(Self.selectRules, [.integer(hub.number)]).isEmpty {
                for rule in rules { try Self.write(rule, of: hub, connection) }
            }
            if try connection.rows(Self.selectRules, [.integer(Self.allHubs)]).isEmpty {
                try Self.write(root, of: nil, connection)
            }
        }
    }

    public func removeRule(named name: String, of hub: HubID?, at now: Timestamp) async throws -> Bool {
        try await database.writing { connection in
            guard try connection.run(Self.deleteRule, [.integer(hub?.number ?? Self.allHubs), .text(name)]) > 0 else {
                return false
            }
            if let hub { _ = try Self.touch(hub, connection, at: now) }
            return true
        }
    }

    private static func write(_ rule: SealedAccessRule, of hub: HubID?, _ connection: any SQLConnection) throws {
        try connection.run(
            upsertRule,
            [
                .integer(hub?.number ?? allHubs), .text(rule.name), .text(rule.rights.text), .text(rule.primary),
                .text(rule.secondary), .integer(rule.createdAt.milliseconds), .integer(rule.updatedAt.milliseconds),
            ])
    }

    private static func rule(_ row: SQLRow) throws -> SealedAccessRule {
        guard let rights = Set<AccessRight>(text: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return SealedAccessRule(
            name: try row.text(0), rights: rights, primary: try row.text(2), secondary: try row.text(3),
            createdAt: Timestamp(milliseconds: try row.integer(4)), updatedAt: Timestamp(milliseconds: try row.integer(5)))
    }
}

extension SQLHubStore {
    public func removeHub(named name: HubName, at now: Timestamp, audit entry: AuditEntry?) async throws -> HubID? {
        try await database.writing { connection in
            let values: [SQLValue] = [.text(name.folded), .integer(now.milliseconds)]
            guard let number = try connection.rows(Self.remove, values).first?.integer(0) else { return nil }
            try connection.run(Self.deleteRules, [.integer(number)])
            if let entry { try AuditRows.insert(entry, connection) }
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
        piece("group_tallies", "notification_id, slice, group_number, outcome"),
        piece("outcome_reasons", "notification_id, slice, platform, outcome, reason"),
        piece("target_failures", "notification_id, slice, slice_key"),
        piece("direct_handles", "notification_id, position"),
        piece("notification_zones", "notification_id, time_zone"),
        piece("notification_translations", "notification_id, number"),
        piece("notifications", "notification_id"),
        piece("outcome_reports", "number"),
        piece("frequency_counts", "cap, recipient, notification_id"),
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

extension SQLHubStore {
    static let all =
        [
            select, insert, describe, selectNamed, selectNumbered, selectPage, count, rewrite, selectRules,
            upsertRule, setPrimaryKey, setSecondaryKey, deleteRule, deleteRules, wakeSlices, wakeTargets, remove, selectRemoved,
            setCleared,
        ] + clearing + setCredential.values

    private static let select = SQLStatement("SELECT hub_id FROM hubs WHERE name = $1")

    private static let insert = SQLStatement(
        """
        INSERT INTO hubs (hub_id, name, title, created_at)
        SELECT COALESCE(MAX(hub_id), 0) + 1, CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT) FROM hubs
        RETURNING hub_id
        """)

    private static let describe = SQLStatement(
        "UPDATE hubs SET user_metadata = $2, registration_lifetime = $3, allows_protected_tags = $4 WHERE hub_id = $1")

    /// Where the sealed credentials lie.
    private static let credentialColumns: [(platform: Platform, name: String)] = [
        (.apns, "apns_credential"), (.browser, "browser_credential"), (.fcmv1, "fcm_credential"),
    ]

    private static let setCredential = Dictionary(
        uniqueKeysWithValues: credentialColumns.map {
            ($0.platform, SQLStatement(composed: "UPDATE hubs SET \($0.name) = $2 WHERE hub_id = $1"))
        })

    private static let columns = """
        SELECT hub_id, name, title, user_metadata, registration_lifetime, allows_protected_tags, created_at, updated_at, version,
            \(credentialColumns.map(\.name).joined(separator: ", ")) FROM hubs WHERE removed_at IS NULL
        """

    private static let selectNamed = SQLStatement(composed: columns + " AND name = $1")
    private static let selectNumbered = SQLStatement(composed: columns + " AND hub_id = $1")
    private static let selectPage = SQLStatement(composed: columns + " AND name > $1 ORDER BY name LIMIT $2")

    private static let count = SQLStatement(
        "UPDATE hubs SET version = version + 1, updated_at = $2 WHERE hub_id = $1 AND removed_at IS NULL")

    private static let rewrite = SQLStatement("UPDATE hubs SET name = name WHERE hub_id = $1")

    private static let selectRules = SQLStatement(
        """
        SELECT name, rights, primary_key, secondary_key, created_at, updated_at FROM hub_rules WHERE hub_id = $1 ORDER BY name
        """)

    private static let upsertRule = SQLStatement(
        """
        INSERT INTO hub_rules (hub_id, name, rights, primary_key, secondary_key, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (hub_id, name) DO UPDATE SET rights = excluded.rights, primary_key = excluded.primary_key,
            secondary_key = excluded.secondary_key, updated_at = excluded.updated_at
        """)

    private static let setPrimaryKey = SQLStatement(
        "UPDATE hub_rules SET primary_key = $3, updated_at = $4 WHERE hub_id = $1 AND name = $2")
    private static let setSecondaryKey = SQLStatement(
        "UPDATE hub_rules SET secondary_key = $3, updated_at = $4 WHERE hub_id = $1 AND name = $2")

    private static let deleteRule = SQLStatement("DELETE FROM hub_rules WHERE hub_id = $1 AND name = $2")
    private static let deleteRules = SQLStatement("DELETE FROM hub_rules WHERE hub_id = $1")

    /// What waits for its time or its pace has had no failure and keeps waiting.
    private static let wakeSlices = SQLStatement(
        """
        UPDATE slices SET ready_at = $2 WHERE hub_id = $1 AND owner IS NULL AND ready_at > $2 AND (failures > 0 OR EXISTS (
            SELECT 1 FROM pending_targets p WHERE p.hub_id = slices.hub_id AND p.notification_id = slices.notification_id
                AND p.slice = slices.slice AND p.cause = 'unsent'))
        """)
    private static let wakeTargets = SQLStatement(
        "UPDATE pending_targets SET not_before = $2 WHERE hub_id = $1 AND cause = 'unsent' AND not_before > $2")

    /// A name with a colon is no hub's, so the old one is free at once.
    private static let remove = SQLStatement(
        composed: """
            UPDATE hubs SET name = 'removed:' || CAST(hub_id AS TEXT), title = NULL, user_metadata = NULL,
                \(credentialColumns.map { "\($0.name) = NULL" }.joined(separator: ", ")), removed_at = $2, version = version + 1 WHERE name = $1 AND removed_at IS NULL
            RETURNING hub_id
            """)

    private static let selectRemoved = SQLStatement(
        "SELECT hub_id, removed_at FROM hubs WHERE removed_at IS NOT NULL AND is_cleared = 0 ORDER BY hub_id")

    private static let setCleared = SQLStatement("UPDATE hubs SET is_cleared = 1 WHERE hub_id = $1 AND removed_at IS NOT NULL")
}
