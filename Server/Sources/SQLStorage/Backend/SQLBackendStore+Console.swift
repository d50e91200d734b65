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

    func removeSecondFactor(of user: UserID) throws { try run(ConsoleSQL.deleteFactor, user) }

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

/// Second factors.
extension SQLBackendStore {
    public func secondFactor(of user: UserID) async throws -> SecondFactor? {
        try await reading { try $0.row(ConsoleSQL.selectFactor, user).map { try ConsoleSQL.factor($0, of: user) } }
    }

    public func beginSecondFactor(_ factor: SecondFactor) async throws -> Bool {
        try await writing { transaction in
            try transaction.requireUser(factor.user)
            return try transaction.run(ConsoleSQL.beginFactor, factor.user, factor.salt, factor.createdAt) > 0
        }
    }

    public func confirmSecondFactor(
        of user: UserID, salt: [UInt8], step: Int64, recovery: [[UInt8]], at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool {
        let codes = recovery.map { Hexadecimal.text(of: $0) }.joined(separator: " ")
        return try await writing { transaction in
            guard try transaction.run(ConsoleSQL.confirmFactor, user, salt, now, step, codes) > 0 else { return false }
            try transaction.run(ConsoleSQL.markUser, user, now)
            try transaction.audit(entry)
            return true
        }
    }

    public func useTimeCode(_ step: Int64, of user: UserID) async throws -> Bool {
        try await writing { try $0.run(ConsoleSQL.useStep, user, step) > 0 }
    }

    public func useRecoveryCode(_ digest: [UInt8], of user: UserID) async throws -> Bool {
        let code = Hexadecimal.text(of: digest)
        return try await writing { transaction in
            guard let row = try transaction.row(ConsoleSQL.selectFactor, user) else { return false }
            let (old, codes) = (try row.text(3), try row.text(3).split(separator: " "))
            guard codes.contains(Substring(code)) else { return false }
            let rest = codes.filter { $0 != code }.joined(separator: " ")
            return try transaction.run(ConsoleSQL.useCode, user, old, rest) > 0
        }
    }

    public func removeSecondFactor(of user: UserID, audit entry: AuditEntry?) async throws -> Bool {
        try await writing { transaction in
            guard let row = try transaction.row(ConsoleSQL.selectFactor, user), try row.optionalMoment(2) != nil else {
                return false
            }
            try transaction.removeSecondFactor(of: user)
            try transaction.run(ConsoleSQL.markUser, user, nil as Timestamp?)
            try transaction.audit(entry)
            return true
        }
    }
}

extension SQLStatement { static let ofConsole = ConsoleSQL.all }

private enum ConsoleSQL {
    static let all = [insert, select, extend, delete, deleteOldest, deleteOfUser, deleteExpired] + factors

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

    private static let factors = [selectFactor, beginFactor, confirmFactor, markUser, useStep, useCode, deleteFactor]

    static func factor(_ row: SQLRow, of user: UserID) throws -> SecondFactor {
        SecondFactor(
            user: user, salt: try row.bytes(0), createdAt: try row.moment(1), confirmedAt: try row.optionalMoment(2),
            recoveryCodes: try row.text(3).split(separator: " ").count)
    }

    static let selectFactor = SQLStatement(
        "SELECT salt, created_at, confirmed_at, recovery_codes FROM second_factors WHERE app_id = $1 AND user_id = $2")
    /// One that is confirmed stays.
    static let beginFactor = SQLStatement(
        """
        INSERT INTO second_factors (app_id, user_id, salt, created_at, last_step, recovery_codes) VALUES ($1, $2, $3, $4, 0, '')
        ON CONFLICT (app_id, user_id) DO UPDATE SET salt = excluded.salt, created_at = excluded.created_at
        WHERE second_factors.confirmed_at IS NULL
        """)
    static let confirmFactor = SQLStatement(
        """
        UPDATE second_factors SET confirmed_at = $4, last_step = $5, recovery_codes = $6
        WHERE app_id = $1 AND user_id = $2 AND salt = $3 AND confirmed_at IS NULL
        """)
    static let markUser = SQLStatement("UPDATE users SET second_factor_at = $3 WHERE app_id = $1 AND user_id = $2")
    static let useStep = SQLStatement(
        """
        UPDATE second_factors SET last_step = $3
        WHERE app_id = $1 AND user_id = $2 AND last_step < $3 AND confirmed_at IS NOT NULL
        """)
    static let useCode = SQLStatement(
        """
        UPDATE second_factors SET recovery_codes = $4
        WHERE app_id = $1 AND user_id = $2 AND recovery_codes = $3 AND confirmed_at IS NOT NULL
        """)
    static let deleteFactor = SQLStatement("DELETE FROM second_factors WHERE app_id = $1 AND user_id = $2")
}
