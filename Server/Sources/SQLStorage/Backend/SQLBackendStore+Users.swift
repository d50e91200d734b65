import AppBackend
import AuditTrail
import CalendarTime
import PushHub
import RichPushModel
import SharedAccess

/// Users, and the credentials of their installations.
extension SQLBackendStore {
    public func createUser(_ new: NewUser, at now: Timestamp, audit entry: AuditEntry?) async throws -> User {
        try await writing { transaction in
            let user = try transaction.createUser(new, at: now)
            try transaction.audit(entry)
            return user
        }
    }

    public func user(named name: UserName) async throws -> (user: User, password: PasswordHash?)? {
        try await reading { transaction in
            guard let row = try transaction.row(UserSQL.selectByName, name.folded) else { return nil }
            return (try UserSQL.user(row), try row.optionalText(11).flatMap { PasswordHash(stored: $0) })
        }
    }

    public func user(_ id: UserID) async throws -> User? { try await reading { try $0.user(id) } }

    public func setPassword(
        _ password: PasswordHash, of id: UserID, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.run(UserSQL.updatePassword, id, password.stored, now) > 0 else { return false }
            try transaction.removeCredentials(of: id)
            try transaction.removeSignInTokens(of: id)
            try transaction.audit(entry)
            return true
        }
    }

    public func endSessions(
        of id: UserID, isDisabled: Bool?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.run(UserSQL.endSessions, id, now) > 0 else { return false }
            if let isDisabled { try transaction.run(UserSQL.setDisabled, id, isDisabled ? now : nil) }
            try transaction.removeCredentials(of: id)
            try transaction.removeSignInTokens(of: id)
            try transaction.audit(entry)
            return true
        }
    }

    public func replaceHash(_ old: PasswordHash, with new: PasswordHash, of id: UserID) async throws -> Bool {
        try await writing { try $0.run(UserSQL.replaceHash, id, new.stored, old.stored) > 0 }
    }

    public func setRole(_ role: UserRole, of id: UserID, audit entry: AuditEntry?) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.run(UserSQL.updateRole, id, role.rawValue) > 0 else { return false }
            try transaction.audit(entry)
            return true
        }
    }

    public func setTags(
        _ tags: [Tag], of id: UserID, mark: Int64, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> [RecordID]? {
        try await writing { transaction in
            guard let user = try transaction.user(id) else { return nil }
            guard let records = try transaction.bindDevices(of: user, with: tags, mark: mark, at: now) else {
                throw BindingLimits.refusesTags
            }
            guard tags != user.tags else { return records }
            try transaction.run(UserSQL.updateTags, id, UserSQL.text(of: tags))
            try transaction.audit(entry)
            return records
        }
    }

    public func setQuietHours(
        _ hours: QuietHours?, of id: UserID, mark: Int64, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> [RecordID]? {
        try await writing { transaction in
            guard try transaction.run(UserSQL.updateQuietHours, id, hours?.description) > 0 else { return nil }
            let records = try transaction.boundRecords(of: id)
            for record in records { try transaction.begin(DeviceChange(record, mark: mark), at: now) }
            try transaction.audit(entry)
            return records
        }
    }

    public func upsertUsers(
        _ users: [UserUpsert], protecting protected: Set<UserRole>, mark: Int64, at now: Timestamp,
        audit: @escaping @Sendable ([UserUpsertOutcome]) -> [AuditEntry]
    ) async throws -> [UserUpsertOutcome] {
        try await writing { transaction in
            let outcomes = try users.map { try transaction.upsert($0, protecting: protected, mark: mark, at: now) }
            for entry in audit(outcomes) { try transaction.audit(entry) }
            return outcomes
        }
    }

    public func users(after name: UserName?, prefix: String, limit: Int) async throws -> [User] {
        // `{` comes after every character of a folded name.
        try await reading { try $0.rows(UserSQL.list, name?.folded ?? "", prefix, prefix + "{", limit).map(UserSQL.user) }
    }

    public func removeUser(_ id: UserID, mark: Int64, at now: Timestamp, audit entry: AuditEntry?) async throws -> [RecordID]? {
        try await writing { transaction in
            // By the name, so before the user goes.
            try transaction.removeSignInTokens(of: id)
            guard try transaction.remove(id) > 0 else { return nil }
            try transaction.buryIdentities(of: id, at: now)
            try transaction.removeCredentials(of: id)
            let records = try transaction.closeBindings(of: id, at: now)
            for record in records { try transaction.begin(DeviceChange(record, mark: mark), at: now) }
            try transaction.audit(entry)
            return records
        }
    }

    public func issue(_ credential: StoredInstallationCredential) async throws { try await writing { try $0.issue(credential) } }

    public func credential(of installation: InstallationID) async throws -> (StoredInstallationCredential, User)? {
        try await reading { transaction in
            guard let row = try transaction.row(UserSQL.selectCredential, installation) else { return nil }
            let user = try UserSQL.user(row)
            let credential = StoredInstallationCredential(
                installation: installation, user: user.id, digest: try row.bytes(11),
                credentialVersion: try row.integer(12), expiresAt: try row.moment(13))
            return (credential, user)
        }
    }

    public func extend(_ credential: StoredInstallationCredential, until expiry: Timestamp) async throws {
        _ = try await writing { try $0.run(UserSQL.extend, credential.installation, credential.digest, expiry) }
    }

    public func expiredCredentials(before moment: Timestamp, limit: Int) async throws -> [StoredInstallationCredential] {
        try await reading { transaction in
            try transaction.rows(UserSQL.selectExpired, moment, limit).map { row in
                StoredInstallationCredential(
                    installation: try row.parsed(0) { InstallationID($0) }, user: UserID(try row.integer(1)),
                    digest: try row.bytes(2), credentialVersion: try row.integer(3), expiresAt: try row.moment(4))
            }
        }
    }

    public func remove(_ credential: StoredInstallationCredential) async throws {
        _ = try await writing {
            try $0.run(UserSQL.deleteCredential, credential.installation, credential.digest, credential.expiresAt)
        }
    }
}

/// For transactions that begin or end the use of a device.
extension BackendTransaction {
    func user(_ id: UserID) throws -> User? { try row(UserSQL.selectByID, id).map(UserSQL.user) }

    func user(named name: UserName) throws -> User? { try row(UserSQL.selectByName, name.folded).map(UserSQL.user) }

    func createUser(_ new: NewUser, at now: Timestamp) throws -> User {
        let id = UserID(try next(.user))
        let order = try row(
            UserSQL.insert, id, new.name.text, new.name.folded, new.role.rawValue, new.password?.stored, now,
            UserSQL.text(of: new.tags))?.integer(0)
        return User(
            id: id, name: new.name, role: new.role, createdAt: now, order: OrderNumber(order ?? 0), credentialVersion: 1,
            tags: new.tags)
    }

    fileprivate func upsert(
        _ given: UserUpsert, protecting protected: Set<UserRole>, mark: Int64, at now: Timestamp
    ) throws -> UserUpsertOutcome {
        guard let user = try user(named: given.name) else {
            let new = NewUser(name: given.name, role: given.role ?? .user, password: nil, tags: given.tags ?? [])
            return .created(try createUser(new, at: now))
        }
        guard !protected.contains(user.role) else { return .protected(user) }
        var changed = user
        if let role = given.role { changed.role = role }
        if let tags = given.tags { changed.tags = tags }
        guard changed != user else { return .unchanged(user) }
        var devices: [RecordID] = []
        if changed.tags != user.tags {
            guard let bound = try bindDevices(of: user, with: changed.tags, mark: mark, at: now) else { return .overfull(user) }
            devices = bound
            try run(UserSQL.updateTags, user.id, UserSQL.text(of: changed.tags))
        }
        if changed.role != user.role { try run(UserSQL.updateRole, user.id, changed.role.rawValue) }
        return .changed(from: user, to: changed, devices: devices)
    }

    func issue(_ credential: StoredInstallationCredential) throws {
        try requireUser(credential.user)
        try run(
            UserSQL.upsertCredential, credential.installation, credential.user, credential.digest, credential.credentialVersion,
            credential.expiresAt)
    }

    /// The digest of the credential of a record; `nil` when it has none.
    func credentialDigest(of record: RecordID) throws -> [UInt8]? { try row(UserSQL.selectDigest, record)?.bytes(0) }

    func removeCredential(of record: RecordID) throws { try run(UserSQL.deleteOfInstallation, record) }

    /// Ends what a user is signed in with, on devices and in the console; returns how many credentials of devices.
    @discardableResult
    func removeCredentials(of user: UserID) throws -> Int {
        try endConsoleSessions(of: user)
        return try run(UserSQL.deleteCredentials, user)
    }

    func remove(_ user: UserID) throws -> Int {
        try removeSecondFactor(of: user)
        return try run(UserSQL.delete, user)
    }
}

extension SQLStatement { static let ofUsers = UserSQL.all }

private enum UserSQL {
    static let all = [
        insert, selectByName, selectByID, updatePassword, endSessions, setDisabled, updateTags, updateQuietHours, replaceHash,
        updateRole, list,
        delete, upsertCredential,
        selectCredential, selectDigest, extend, selectExpired, deleteCredential, deleteCredentials, deleteOfInstallation,
    ]

    static func user(_ row: SQLRow) throws -> User {
        User(
            id: UserID(try row.integer(0)), name: try row.parsed(1) { UserName($0) },
            role: try row.parsed(2, UserRole.init(rawValue:)), createdAt: try row.moment(3),
            order: OrderNumber(try row.integer(5)), credentialVersion: try row.integer(4),
            tags: try row.text(6).split(separator: " ").map { text in
                guard let tag = Tag(String(text)) else { throw SQLFault.unexpectedColumn(6) }
                return tag
            }, disabledAt: try row.optionalMoment(7), tokensSince: try row.optionalMoment(8),
            secondFactorAt: try row.optionalMoment(9), quietHours: try row.optionalText(10).flatMap { QuietHours($0) })
    }

    /// A tag has no blank in it.
    static func text(of tags: [Tag]) -> String { tags.map(\.text).joined(separator: " ") }

    static let insert = SQLStatement(
        composed: """
            INSERT INTO users (app_id, user_id, name, folded_name, role, password_hash, credential_version, created_at, order_number,
                tags)
            VALUES ($1, $2, $3, $4, $5, $6, 1, $7, \(OrderNumbers.current), $8) RETURNING order_number
            """)
    static let selectByName = SQLStatement(
        """
        SELECT user_id, name, role, created_at, credential_version, order_number, tags, disabled_at, tokens_since, second_factor_at,
            quiet_hours, password_hash
        FROM users
        WHERE app_id = $1 AND folded_name = $2
        """)
    static let selectByID = SQLStatement(
        """
        SELECT user_id, name, role, created_at, credential_version, order_number, tags, disabled_at, tokens_since, second_factor_at,
            quiet_hours
        FROM users
        WHERE app_id = $1 AND user_id = $2
        """)
    static let updatePassword = SQLStatement(
        """
        UPDATE users SET password_hash = $3, credential_version = credential_version + 1, tokens_since = $4
        WHERE app_id = $1 AND user_id = $2
        """)
    static let replaceHash = SQLStatement(
        "UPDATE users SET password_hash = $3 WHERE app_id = $1 AND user_id = $2 AND password_hash = $4")
    static let endSessions = SQLStatement(
        """
        UPDATE users SET credential_version = credential_version + 1, tokens_since = $3 WHERE app_id = $1 AND user_id = $2
        """)
    static let setDisabled = SQLStatement("UPDATE users SET disabled_at = $3 WHERE app_id = $1 AND user_id = $2")
    static let updateTags = SQLStatement("UPDATE users SET tags = $3 WHERE app_id = $1 AND user_id = $2")
    static let updateQuietHours = SQLStatement("UPDATE users SET quiet_hours = $3 WHERE app_id = $1 AND user_id = $2")
    static let updateRole = SQLStatement("UPDATE users SET role = $3 WHERE app_id = $1 AND user_id = $2")
    static let list = SQLStatement(
        """
        SELECT user_id, name, role, created_at, credential_version, order_number, tags, disabled_at, tokens_since, second_factor_at,
            quiet_hours
        FROM users
        WHERE app_id = $1 AND folded_name > $2 AND folded_name >= $3 AND folded_name < $4 ORDER BY folded_name LIMIT $5
        """)
    static let delete = SQLStatement("DELETE FROM users WHERE app_id = $1 AND user_id = $2")
    static let upsertCredential = SQLStatement(
        """
        INSERT INTO installation_credentials (app_id, installation_id, user_id, digest, credential_version, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app_id, installation_id) DO UPDATE SET user_id = excluded.user_id, digest = excluded.digest,
            credential_version = excluded.credential_version, expires_at = excluded.expires_at
        """)
    static let selectCredential = SQLStatement(
        """
        SELECT u.user_id, u.name, u.role, u.created_at, u.credential_version, u.order_number, u.tags, u.disabled_at, u.tokens_since,
            u.second_factor_at, u.quiet_hours, c.digest, c.credential_version, c.expires_at
        FROM installation_credentials c JOIN users u ON u.app_id = c.app_id AND u.user_id = c.user_id
        WHERE c.app_id = $1 AND c.installation_id = $2
        """)
    static let selectDigest = SQLStatement(
        "SELECT digest FROM installation_credentials WHERE app_id = $1 AND installation_id = $2")
    static let extend = SQLStatement(
        "UPDATE installation_credentials SET expires_at = $4 WHERE app_id = $1 AND installation_id = $2 AND digest = $3")
    static let selectExpired = SQLStatement(
        """
        SELECT installation_id, user_id, digest, credential_version, expires_at FROM installation_credentials
        WHERE app_id = $1 AND expires_at < $2 ORDER BY expires_at, installation_id LIMIT $3
        """)
    static let deleteCredential = SQLStatement(
        """
        DELETE FROM installation_credentials
        WHERE app_id = $1 AND installation_id = $2 AND digest = $3 AND expires_at = $4
        """)
    static let deleteCredentials = SQLStatement("DELETE FROM installation_credentials WHERE app_id = $1 AND user_id = $2")
    static let deleteOfInstallation = SQLStatement(
        "DELETE FROM installation_credentials WHERE app_id = $1 AND installation_id = $2")
}
