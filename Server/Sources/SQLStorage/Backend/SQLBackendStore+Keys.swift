import AppBackend
import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess

/// Service keys, and the accounts for which they act.
extension SQLBackendStore {
    public func createKey(_ draft: ServiceKeyDraft, at now: Timestamp, audit entry: AuditEntry?) async throws -> ServiceKey {
        try await writing { transaction in
            let account = try transaction.account(draft.account, at: now)
            guard try transaction.rows(KeySQL.selectHolding, account, now).isEmpty else {
                throw ServiceError(.conflict, "name: a key of this name holds; roll it, or revoke it first")
            }
            return try transaction.insert(draft, of: account, at: now, entry)
        }
    }

    public func replaceKey(
        _ id: Int64, with draft: ServiceKeyDraft, end: Timestamp, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> ServiceKey {
        try await writing { transaction in
            guard let old = try transaction.row(KeySQL.selectByID, id).map(KeySQL.key) else {
                throw ServiceError(.notFound, "there is no such key")
            }
            // An earlier version let an account be removed whose keys held.
            guard try transaction.user(old.account) != nil else {
                throw ServiceError(.conflict, "the account of this key was removed; revoke the key, and create it anew")
            }
            let holding = try transaction.rows(KeySQL.selectHolding, old.account, now).map { try $0.integer(0) }
            guard holding == [id] else {
                let isRolled = holding.contains(id)
                throw ServiceError(
                    .conflict, isRolled ? "this key was rolled already; revoke one of the two first" : "this key has ended")
            }
            let new = try transaction.insert(draft, of: old.account, at: now, entry)
            try transaction.run(KeySQL.shorten, id, min(end, old.expiresAt))
            return new
        }
    }

    public func revokeKey(_ id: Int64, at now: Timestamp, audit entry: AuditEntry?) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.run(KeySQL.revoke, id, now) > 0 else { return false }
            try transaction.audit(entry)
            return true
        }
    }

    public func key(digest: [UInt8]) async throws -> (ServiceKey, User)? {
        try await reading { transaction in
            guard let key = try transaction.row(KeySQL.selectByDigest, digest).map(KeySQL.key),
                let account = try transaction.user(key.account)
            else { return nil }
            return (key, account)
        }
    }

    public func holdingKey(of account: UserID, at now: Timestamp) async throws -> ServiceKey? {
        try await reading { transaction in
            guard let id = try transaction.rows(KeySQL.selectHolding, account, now).last?.integer(0) else { return nil }
            return try transaction.row(KeySQL.selectByID, id).map(KeySQL.key)
        }
    }

    public func keys(after id: Int64, limit: Int) async throws -> [ServiceKey] {
        try await reading { try $0.rows(KeySQL.list, id, limit).map(KeySQL.key) }
    }

    public func noteUse(ofKey id: Int64, at now: Timestamp, from network: String) async throws {
        _ = try await writing { try $0.run(KeySQL.noteUse, id, now, network) }
    }
}

extension BackendTransaction {
    /// The service account of this name; it is made if there is none.
    fileprivate func account(_ name: UserName, at now: Timestamp) throws -> UserID {
        if let found = try user(named: name) {
            guard found.role == .service else { throw ServiceError(.conflict, "name: there is a user of this name") }
            return found.id
        }
        return try createUser(NewUser(name: name, role: .service, password: nil), at: now).id
    }

    fileprivate func insert(
        _ draft: ServiceKeyDraft, of account: UserID, at now: Timestamp, _ entry: AuditEntry?
    ) throws -> ServiceKey {
        let id = try next(.serviceKey)
        try run(
            KeySQL.insert, id, account, draft.name, draft.digest, draft.hint,
            draft.scopes.map(\.text).joined(separator: " "), draft.networks.map(\.description).joined(separator: " "),
            draft.requestsPerMinute, draft.createdBy, now, draft.expiresAt)
        try audit(entry, object: "\(id)")
        return ServiceKey(
            id: id, name: draft.name, account: account, hint: draft.hint, scopes: draft.scopes, networks: draft.networks,
            requestsPerMinute: draft.requestsPerMinute, createdBy: draft.createdBy, createdAt: now, expiresAt: draft.expiresAt)
    }
}

extension SQLStatement { static let ofKeys = KeySQL.all }

private enum KeySQL {
    static let all = [insert, selectByID, selectByDigest, selectHolding, list, shorten, revoke, noteUse]

    static func key(_ row: SQLRow) throws -> ServiceKey {
        func list<Value>(_ column: Int, _ parse: (String) -> Value?) throws -> [Value] {
            try row.text(column).split(separator: " ").map { text in
                guard let value = parse(String(text)) else { throw SQLFault.unexpectedColumn(column) }
                return value
            }
        }
        return ServiceKey(
            id: try row.integer(0), name: try row.text(2), account: UserID(try row.integer(1)), hint: try row.text(3),
            scopes: try list(4) { ServiceKeyScope($0) }, networks: try list(5) { AddressRange($0) },
            requestsPerMinute: try row.optionalInteger(6).map(Int.init), createdBy: try row.text(7),
            createdAt: try row.moment(8), expiresAt: try row.moment(9), revokedAt: try row.optionalMoment(10),
            lastUsedAt: try row.optionalMoment(11), lastUsedFrom: try row.optionalText(12))
    }

    private static let columns = """
        key_id, account_id, name, hint, scopes, networks, requests_per_minute, created_by, created_at, expires_at, revoked_at,
        last_used_at, last_used_from
        """
    static let insert = SQLStatement(
        """
        INSERT INTO service_keys (app_id, key_id, account_id, name, digest, hint, scopes, networks, requests_per_minute, created_by,
            created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """)
    static let selectByID = SQLStatement(composed: "SELECT \(columns) FROM service_keys WHERE app_id = $1 AND key_id = $2")
    static let selectByDigest = SQLStatement(composed: "SELECT \(columns) FROM service_keys WHERE app_id = $1 AND digest = $2")
    static let selectHolding = SQLStatement(
        """
        SELECT key_id FROM service_keys
        WHERE app_id = $1 AND account_id = $2 AND expires_at > $3 AND revoked_at IS NULL ORDER BY key_id
        """)
    static let list = SQLStatement(
        composed: "SELECT \(columns) FROM service_keys WHERE app_id = $1 AND key_id > $2 ORDER BY key_id LIMIT $3")
    static let shorten = SQLStatement("UPDATE service_keys SET expires_at = $3 WHERE app_id = $1 AND key_id = $2")
    static let revoke = SQLStatement(
        "UPDATE service_keys SET revoked_at = $3 WHERE app_id = $1 AND key_id = $2 AND revoked_at IS NULL")
    static let noteUse = SQLStatement(
        """
        UPDATE service_keys SET last_used_at = $3, last_used_from = $4
        WHERE app_id = $1 AND key_id = $2 AND (last_used_at IS NULL OR last_used_at < $3)
        """)
}
