import PushHub
import RichPushModel

/// Which hubs there are, with their rules and credentials.
public struct SQLHubStore: HubStore {
    let database: any SQLDatabase

    /// Creates the store.
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

    public func create(_ hub: NewHub, at now: Timestamp) async throws -> HubRecord? {
        try await database.writing { connection in
            guard try Self.find(hub.name.folded, connection) == nil else { return nil }
            let id = try Self.insert(hub.name.folded, title: hub.name.text, connection, at: now)
            try Self.describe(id, hub.details, connection)
            if let sealed = hub.sealedAPNs { try connection.run(Self.setCredential, [.integer(id.number), .text(sealed)]) }
            for rule in hub.rules { try Self.write(rule, of: id, connection) }
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

    public func update(_ id: HubID, with change: StoredHubChange, at now: Timestamp) async throws -> HubRecord? {
        try await database.writing { connection in
            guard try Self.touch(id, connection, at: now) else { return nil }
            if let details = change.details { try Self.describe(id, details, connection) }
            switch change.credential {
            case .keep: break
            case .remove: try connection.run(Self.setCredential, [.integer(id.number), .null])
            case .set(let sealed):
                try connection.run(Self.setCredential, [.integer(id.number), .text(sealed)])
                try Self.wake(id, at: now + HubCatalog.freshness, connection)
            }
            if let rules = change.rules {
                try connection.run(Self.deleteRules, [.integer(id.number)])
                for rule in rules { try Self.write(rule, of: id, connection) }
            }
            return try Self.record(of: id, connection)
        }
    }

    /// Writes a row as it is. It is kept or it fails, which tells whether the database keeps writes.
    public func rewrite(_ hub: HubID) async throws {
        _ = try await database.writing { try $0.run(Self.rewrite, [.integer(hub.number)]) }
    }

    /// Makes what waits after a failure due at the moment, if it would wait longer.
    private static func wake(_ id: HubID, at moment: Timestamp, _ connection: any SQLConnection) throws {
        let values: [SQLValue] = [.integer(id.number), .integer(moment.milliseconds)]
        try connection.run(wakeSlices, values)
        try connection.run(wakeTargets, values)
    }

    /// Counts the version up; `false` when there is no such hub.
    static func touch(_ id: HubID, _ connection: any SQLConnection, at now: Timestamp) throws -> Bool {
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
        let created = Timestamp(milliseconds: try row.integer(7))
        return HubRecord(
            id: HubID(try row.integer(0)), name: name,
            details: HubDetails(
                userMetadata: try row.optionalText(3),
                registrationLifetime: try row.optionalInteger(4).map(Duration.milliseconds),
                allowsProtectedTags: try row.integer(5) != 0),
            sealedAPNs: try row.optionalText(6), createdAt: created,
            updatedAt: try row.optionalInteger(8).map(Timestamp.init(milliseconds:)) ?? created, version: try row.integer(9))
    }
}
