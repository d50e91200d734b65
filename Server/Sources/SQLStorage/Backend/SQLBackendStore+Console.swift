import AppBackend
import AuditTrail
import RichPushModel
import WireText

/// Sessions of the console, and the links that begin them.
extension SQLBackendStore {
    public func addConsoleLink(_ link: ConsoleSession, audit entry: AuditEntry?) async throws {
        try await writing { transaction in
            try transaction.insert(link)
            try transaction.audit(entry)
        }
    }

    public func redeemConsoleLink(
        _ digest: [UInt8], for session: ConsoleSession, limit: Int, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool {
        try await writing { transaction in
            guard let (link, user) = try transaction.consoleSession(.link, digest), link.holds(for: user, at: now),
                session.user == user.id
            else { return false }
            // Of two requests with one link, one deletes it.
            guard try transaction.run(ConsoleSQL.delete, ConsoleSQL.key(digest), link.kind.rawValue) > 0 else { return false }
            try transaction.add(session, limit: limit)
            try transaction.audit(entry)
            return true
        }
    }

    public func addConsoleSession(_ session: ConsoleSession, limit: Int, audit entry: AuditEntry?) async throws {
        try await writing { transaction in
            try transaction.add(session, limit: limit)
            try transaction.audit(entry)
        }
    }

    public func consoleSession(
        _ kind: ConsoleSession.Kind, digest: [UInt8]
    ) async throws -> (session: ConsoleSession, user: User)? {
        try await reading { try $0.consoleSession(kind, digest) }
    }

    public func extendConsoleSession(_ digest: [UInt8], until expiry: Timestamp) async throws {
        _ = try await writing { try $0.run(ConsoleSQL.extend, ConsoleSQL.key(digest), expiry) }
    }

    public func endConsoleSession(_ digest: [UInt8], audit entry: AuditEntry?) async throws -> Bool {
        try await writing { transaction in
            guard
                try transaction.run(ConsoleSQL.delete, ConsoleSQL.key(digest), ConsoleSession.Kind.session.rawValue) > 0
            else { return false }
            try transaction.audit(entry)
            return true
        }
    }

    public func removeConsoleSessions(expiredBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { try $0.run(ConsoleSQL.deleteExpired, moment, limit) }
    }
}

extension BackendTransaction {
    /// Ends the sessions of a user in the console, and the links to it.
    func endConsoleSessions(of user: UserID) throws { try run(ConsoleSQL.deleteOfUser, user) }

    fileprivate func add(_ session: ConsoleSession, limit: Int) throws {
        try insert(session)
        try run(ConsoleSQL.deleteOldest, session.user, ConsoleSession.Kind.session.rawValue, limit)
    }

    fileprivate func insert(_ session: ConsoleSession) throws {
        try requireUser(session.user)
        try run(
            ConsoleSQL.insert, ConsoleSQL.key(session.digest), session.kind.rawValue, session.user, session.role.rawValue,
            session.credentialVersion, session.createdAt, session.expiresAt, session.endsAt)
    }

    fileprivate func consoleSession(
        _ kind: ConsoleSession.Kind, _ digest: [UInt8]
    ) throws -> (session: ConsoleSession, user: User)? {
        guard let row = try row(ConsoleSQL.select, ConsoleSQL.key(digest), kind.rawValue) else { return nil }
        guard let user = try user(UserID(try row.integer(0))) else { return nil }
        let session = ConsoleSession(
            digest: digest, kind: kind, user: user.id, role: try row.parsed(1, UserRole.init(rawValue:)),
            credentialVersion: try row.integer(2), createdAt: try row.moment(3), expiresAt: try row.moment(4),
            endsAt: try row.moment(5))
        return (session, user)
    }
}

extension SQLStatement { static let ofConsole = ConsoleSQL.all }

private enum ConsoleSQL {
    static let all = [insert, select, extend, delete, deleteOldest, deleteOfUser, deleteExpired]

    static func key(_ digest: [UInt8]) -> String { Hexadecimal.text(of: digest) }

    static let insert = SQLStatement(
        """
        INSERT INTO console_sessions (app_id, session_key, kind, user_id, role, credential_version, created_at, expires_at, ends_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """)
    static let select = SQLStatement(
        """
        SELECT user_id, role, credential_version, created_at, expires_at, ends_at
        FROM console_sessions WHERE app_id = $1 AND session_key = $2 AND kind = $3
        """)
    static let extend = SQLStatement("UPDATE console_sessions SET expires_at = $3 WHERE app_id = $1 AND session_key = $2")
    static let delete = SQLStatement("DELETE FROM console_sessions WHERE app_id = $1 AND session_key = $2 AND kind = $3")
    static let deleteOldest = SQLStatement(
        """
        DELETE FROM console_sessions WHERE app_id = $1 AND session_key IN (
            SELECT session_key FROM console_sessions WHERE app_id = $1 AND user_id = $2 AND kind = $3
            ORDER BY created_at DESC, session_key LIMIT 1000 OFFSET $4)
        """)
    static let deleteOfUser = SQLStatement("DELETE FROM console_sessions WHERE app_id = $1 AND user_id = $2")
    static let deleteExpired = SQLStatement(
        """
        DELETE FROM console_sessions WHERE app_id = $1 AND session_key IN (
            SELECT session_key FROM console_sessions WHERE app_id = $1 AND expires_at < $2
            ORDER BY expires_at, session_key LIMIT $3)
        """)
}
