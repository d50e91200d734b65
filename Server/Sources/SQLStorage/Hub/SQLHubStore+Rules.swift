import PushHub
import RichPushModel
import SharedAccess

/// The access rules of hubs. Number 0 stands for all hubs; a hub's own number begins with 1.
extension SQLHubStore {
    private static let allHubs: Int64 = 0

    public func rules(of hub: HubID?) async throws -> [SealedAccessRule] {
        try await database.reading { try $0.rows(Self.selectRules, [.integer(hub?.number ?? Self.allHubs)]).map(Self.rule) }
    }

    public func put(_ rule: SealedAccessRule, of hub: HubID?, at now: Timestamp) async throws -> Bool {
        try await database.writing { connection in
            if let hub, try !Self.touch(hub, connection, at: now) { return false }
            try Self.write(rule, of: hub, connection)
            return true
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

    static func write(_ rule: SealedAccessRule, of hub: HubID?, _ connection: any SQLConnection) throws {
        try connection.run(
            upsertRule,
            [
                .integer(hub?.number ?? allHubs), .text(rule.name), .text(rule.rights.words), .text(rule.primary),
                .text(rule.secondary), .integer(rule.createdAt.milliseconds), .integer(rule.updatedAt.milliseconds),
            ])
    }

    private static func rule(_ row: SQLRow) throws -> SealedAccessRule {
        guard let rights = Set<AccessRight>(words: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return SealedAccessRule(
            name: try row.text(0), rights: rights, primary: try row.text(2), secondary: try row.text(3),
            createdAt: Timestamp(milliseconds: try row.integer(4)), updatedAt: Timestamp(milliseconds: try row.integer(5)))
    }
}
