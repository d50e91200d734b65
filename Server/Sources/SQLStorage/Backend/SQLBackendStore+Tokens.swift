import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import TrustedIssuers

/// One-time sign-in tokens, and the identities that issuers gave the users.
extension SQLBackendStore {
    public func mint(_ token: SignInToken, audit entry: AuditEntry?) async throws {
        try await writing { transaction in
            try transaction.run(
                TokenSQL.insert, token.digest, token.user.text, token.user.folded, token.installation,
                token.tags.map(TokenSQL.text), token.createsUser ? 1 : 0, token.createdBy, token.createdAt, token.expiresAt)
            try transaction.audit(entry)
        }
    }

    public func signInToken(digest: [UInt8]) async throws -> (token: SignInToken, user: User?)? {
        try await reading { transaction in
            guard let token = try transaction.row(TokenSQL.select, digest).map(TokenSQL.token) else { return nil }
            return (token, try transaction.user(named: token.user))
        }
    }

    public func user(
        of identity: TokenIdentity, issuedAt: Timestamp, claim: IdentityClaim, at now: Timestamp
    ) async throws -> IdentityOutcome {
        // Almost always the user is there, and nothing is written.
        let known = try await reading { try $0.user(of: identity, issuedAt: issuedAt) }
        guard known == .unknown, let name = claim.new?.name ?? claim.adopted else { return known }
        return try await writing { transaction in
            let known = try transaction.user(of: identity, issuedAt: issuedAt)
            guard known == .unknown else { return known }
            if let user = try transaction.user(named: name) {
                guard claim.adopted != nil, try transaction.mayBeAdopted(user) else { return .nameTaken }
                try transaction.audit(claim.adoption)
                return .user(try transaction.link(user, to: identity, at: now))
            }
            guard let new = claim.new else { return .unknown }
            try transaction.audit(claim.creation)
            return .user(try transaction.link(try transaction.createUser(new, at: now), to: identity, at: now))
        }
    }

    public func removeSignInTokens(expiredBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { try $0.run(TokenSQL.deleteExpired, moment, limit) }
    }

    public func removeIdentities(removedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { try $0.run(TokenSQL.deleteBuried, moment, limit) }
    }
}

/// The last good key sets of the issuers, for restarts and for the other nodes.
extension SQLBackendStore: KeySetStore {
    public func load(issuer: String) async throws(KeySetFault) -> StoredKeySet? {
        do {
            return try await reading { transaction in
                try transaction.row(TokenSQL.selectKeySet, issuer).map { row in
                    StoredKeySet(
                        issuer: issuer, source: try row.text(0), document: try row.bytes(1), fetchedAt: try row.moment(2),
                        life: .milliseconds(try row.integer(3)))
                }
            }
        } catch { throw KeySetFault("the stored key set cannot be read") }
    }

    public func save(_ set: StoredKeySet) async throws(KeySetFault) {
        do {
            _ = try await writing { transaction in
                try transaction.run(
                    TokenSQL.keepKeySet, set.issuer, set.source, set.document, set.fetchedAt, set.life.wholeMilliseconds)
            }
        } catch { throw KeySetFault("the key set cannot be stored") }
    }
}

extension BackendTransaction {
    /// Consumes a one-time token for the installation and the user of a credential. Throws `unauthenticated` if another installation has
    /// used it, and when it does not hold for these. The same installation may use it again until it expires.
    func consume(_ token: [UInt8], for credential: StoredInstallationCredential, at now: Timestamp) throws {
        guard try run(TokenSQL.consume, token, credential.installation, now, credential.user) > 0 else {
            throw TokenRefusal.foreign
        }
    }

    /// Removes the one-time tokens for a user, who must still be there; returns how many.
    @discardableResult
    func removeSignInTokens(of user: UserID) throws -> Int { try run(TokenSQL.deleteOfUser, user) }

    /// Leaves of the identities of a user only the digests; returns how many.
    @discardableResult
    func buryIdentities(of user: UserID, at now: Timestamp) throws -> Int { try run(TokenSQL.bury, user, now) }

    /// Whether a user of the role `user` has neither password nor identity. The row stays locked, so that of two identities one gets them.
    fileprivate func mayBeAdopted(_ user: User) throws -> Bool {
        guard try run(TokenSQL.lockAdoptable, user.id, UserRole.user.rawValue) > 0 else { return false }
        return try row(TokenSQL.selectIdentityOf, user.id) == nil
    }

    fileprivate func link(_ user: User, to identity: TokenIdentity, at now: Timestamp) throws -> User {
        let removedAt = try row(TokenSQL.selectIdentity, identity.key)?.optionalMoment(1)
        try run(TokenSQL.keepIdentity, identity.key, identity.issuer, identity.subject, user.id, now)
        guard let removedAt, user.tokensSince.map({ $0 < removedAt }) ?? true else { return user }
        try run(TokenSQL.setTokensSince, user.id, removedAt)
        var user = user
        user.tokensSince = removedAt
        return user
    }

    /// Without creating one.
    fileprivate func user(of identity: TokenIdentity, issuedAt: Timestamp) throws -> IdentityOutcome {
        guard let row = try row(TokenSQL.selectIdentity, identity.key) else { return .unknown }
        if let removedAt = try row.optionalMoment(1) { return issuedAt < removedAt ? .removed : .unknown }
        guard let user = try user(UserID(try row.integer(0))) else { return .unknown }
        return .user(user)
    }
}

extension SQLStatement { static let ofTokens = TokenSQL.all }

private enum TokenSQL {
    static let all = [
        insert, select, consume, deleteOfUser, deleteExpired, selectIdentity, selectIdentityOf, lockAdoptable, keepIdentity,
        setTokensSince, bury, deleteBuried,
        selectKeySet, keepKeySet,
    ]

    /// A tag has no blank in it.
    static func text(of tags: [Tag]) -> String { tags.map(\.text).joined(separator: " ") }

    static func token(_ row: SQLRow) throws -> SignInToken {
        let tags = try row.optionalText(3).map { text in
            try text.split(separator: " ").map { word in
                guard let tag = Tag(String(word)) else { throw SQLFault.unexpectedColumn(3) }
                return tag
            }
        }
        func installation(_ column: Int) throws -> InstallationID? {
            try row.optionalText(column) == nil ? nil : row.parsed(column) { InstallationID($0) }
        }
        return SignInToken(
            digest: try row.bytes(0), user: try row.parsed(1) { UserName($0) }, installation: try installation(2), tags: tags,
            createsUser: try row.integer(4) != 0, createdBy: try row.text(5), createdAt: try row.moment(6),
            expiresAt: try row.moment(7), usedBy: try installation(8), usedAt: try row.optionalMoment(9))
    }

    static let insert = SQLStatement(
        """
        INSERT INTO sign_in_tokens (app_id, digest, name, folded_name, installation_id, tags, creates_user, created_by, created_at,
            expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """)
    static let select = SQLStatement(
        """
        SELECT digest, name, installation_id, tags, creates_user, created_by, created_at, expires_at, used_by, used_at
        FROM sign_in_tokens WHERE app_id = $1 AND digest = $2
        """)
    static let consume = SQLStatement(
        """
        UPDATE sign_in_tokens SET used_by = $3, used_at = COALESCE(used_at, $4)
        WHERE app_id = $1 AND digest = $2 AND expires_at > $4 AND (installation_id IS NULL OR installation_id = $3)
            AND (used_by IS NULL OR used_by = $3)
            AND folded_name = (SELECT folded_name FROM users WHERE app_id = $1 AND user_id = $5)
        """)
    static let deleteOfUser = SQLStatement(
        """
        DELETE FROM sign_in_tokens
        WHERE app_id = $1 AND folded_name = (SELECT folded_name FROM users WHERE app_id = $1 AND user_id = $2)
        """)
    static let deleteExpired = SQLStatement(
        """
        DELETE FROM sign_in_tokens WHERE app_id = $1 AND digest IN (
            SELECT digest FROM sign_in_tokens WHERE app_id = $1 AND expires_at < $2 ORDER BY expires_at, digest LIMIT $3)
        """)
    static let selectIdentity = SQLStatement(
        "SELECT user_id, removed_at FROM identities WHERE app_id = $1 AND identity_key = $2")
    static let selectIdentityOf = SQLStatement(
        "SELECT identity_key FROM identities WHERE app_id = $1 AND user_id = $2 LIMIT 1")
    static let lockAdoptable = SQLStatement(
        """
        UPDATE users SET role = role WHERE app_id = $1 AND user_id = $2 AND role = $3 AND password_hash IS NULL
        """)
    static let keepIdentity = SQLStatement(
        """
        INSERT INTO identities (app_id, identity_key, issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app_id, identity_key) DO UPDATE SET issuer = excluded.issuer, subject = excluded.subject,
            user_id = excluded.user_id, created_at = excluded.created_at, removed_at = NULL
        """)
    static let setTokensSince = SQLStatement("UPDATE users SET tokens_since = $3 WHERE app_id = $1 AND user_id = $2")
    static let bury = SQLStatement(
        """
        UPDATE identities SET removed_at = $3, issuer = NULL, subject = NULL, user_id = 0
        WHERE app_id = $1 AND user_id = $2 AND removed_at IS NULL
        """)
    static let deleteBuried = SQLStatement(
        """
        DELETE FROM identities WHERE app_id = $1 AND identity_key IN (
            SELECT identity_key FROM identities WHERE app_id = $1 AND removed_at < $2 ORDER BY removed_at, identity_key LIMIT $3)
        """)
    static let selectKeySet = SQLStatement(
        "SELECT source, document, fetched_at, life FROM key_sets WHERE app_id = $1 AND issuer = $2")
    static let keepKeySet = SQLStatement(
        """
        INSERT INTO key_sets (app_id, issuer, source, document, fetched_at, life) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app_id, issuer) DO UPDATE SET source = excluded.source, document = excluded.document,
            fetched_at = excluded.fetched_at, life = excluded.life
        WHERE key_sets.fetched_at <= excluded.fetched_at OR key_sets.source <> excluded.source
        """)
}
