import AppBackend
import PushHub
import RichPushModel

/// The installation credentials of one app.
public struct SQLCredentialStore: CredentialStore {
    private let database: any SQLDatabase
    private let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func issue(_ credential: StoredInstallationCredential) async throws {
        try await database.writing { [app] in try Self.issue(credential, app, $0) }
    }

    public func credential(of installation: InstallationID) async throws -> (StoredInstallationCredential, User)? {
        try await database.reading { [app] connection -> CredentialOfUser? in
            guard let row = try connection.row(Self.select, [.integer(app.number), .text(installation.text)]) else { return nil }
            let user = try SQLUserStore.user(row)
            let credential = StoredInstallationCredential(
                installation: installation, user: user.id, digest: try row.bytes(6),
                credentialVersion: try row.integer(7), expiresAt: Timestamp(milliseconds: try row.integer(8)))
            return CredentialOfUser(credential: credential, user: user)
        }.map { ($0.credential, $0.user) }
    }

    public func extend(_ credential: StoredInstallationCredential, until expiry: Timestamp) async throws {
        _ = try await database.writing { [app] connection in
            try connection.run(
                Self.extend,
                [
                    .integer(expiry.milliseconds), .integer(app.number), .text(credential.installation.text),
                    .bytes(credential.digest),
                ])
        }
    }

    public func expired(before moment: Timestamp, limit: Int) async throws -> [StoredInstallationCredential] {
        try await database.reading { [app] connection in
            try connection.rows(
                Self.selectExpired, [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(limit))]
            ).map { row in
                guard let installation = InstallationID(try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
                return StoredInstallationCredential(
                    installation: installation, user: UserID(try row.integer(1)), digest: try row.bytes(2),
                    credentialVersion: try row.integer(3), expiresAt: Timestamp(milliseconds: try row.integer(4)))
            }
        }
    }

    public func remove(_ credential: StoredInstallationCredential) async throws {
        _ = try await database.writing { [app] connection in
            try connection.run(
                Self.delete,
                [
                    .integer(app.number), .text(credential.installation.text), .bytes(credential.digest),
                    .integer(credential.expiresAt.milliseconds),
                ])
        }
    }
}

private struct CredentialOfUser: Sendable {
    var credential: StoredInstallationCredential
    var user: User
}

extension SQLCredentialStore {
    /// Also run by the store of bindings, in the transaction of a sign-in.
    static func issue(
        _ credential: StoredInstallationCredential, _ app: AppID, _ connection: any SQLConnection
    ) throws {
        try BackendRows.requireUser(credential.user, app, connection)
        try connection.run(
            upsert,
            [
                .integer(app.number), .text(credential.installation.text), .integer(credential.user.number),
                .bytes(credential.digest), .integer(credential.credentialVersion),
                .integer(credential.expiresAt.milliseconds),
            ])
    }

    /// The digest of the credential of a record; `nil` when it has none.
    static func digest(of record: RecordID, _ app: AppID, _ connection: any SQLConnection) throws -> [UInt8]? {
        try connection.row(selectDigest, [.integer(app.number), .text(record.text)])?.bytes(0)
    }

    static let all = [upsert, select, selectDigest, extend, selectExpired, delete, deleteOfUser, deleteOfInstallation]

    /// Also run by the stores that end a user's credentials in a transaction of their own.
    static let deleteOfUser = SQLStatement("DELETE FROM installation_credentials WHERE app_id = $1 AND user_id = $2")
    /// Also run by the store of bindings, at sign-out and hand-over.
    static let deleteOfInstallation = SQLStatement(
        "DELETE FROM installation_credentials WHERE app_id = $1 AND installation_id = $2")

    private static let upsert = SQLStatement(
        """
        INSERT INTO installation_credentials (app_id, installation_id, user_id, digest, credential_version, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (app_id, installation_id) DO UPDATE SET user_id = excluded.user_id, digest = excluded.digest,
            credential_version = excluded.credential_version, expires_at = excluded.expires_at
        """)
    private static let select = SQLStatement(
        """
        SELECT u.user_id, u.name, u.role, u.created_at, u.credential_version, u.order_number, c.digest, c.credential_version, c.expires_at
        FROM installation_credentials c JOIN users u ON u.app_id = c.app_id AND u.user_id = c.user_id
        WHERE c.app_id = $1 AND c.installation_id = $2
        """)
    private static let selectDigest = SQLStatement(
        "SELECT digest FROM installation_credentials WHERE app_id = $1 AND installation_id = $2")
    private static let extend = SQLStatement(
        "UPDATE installation_credentials SET expires_at = $1 WHERE app_id = $2 AND installation_id = $3 AND digest = $4")
    private static let selectExpired = SQLStatement(
        """
        SELECT installation_id, user_id, digest, credential_version, expires_at FROM installation_credentials
        WHERE app_id = $1 AND expires_at < $2 ORDER BY expires_at, installation_id LIMIT $3
        """)
    private static let delete = SQLStatement(
        """
        DELETE FROM installation_credentials
        WHERE app_id = $1 AND installation_id = $2 AND digest = $3 AND expires_at = $4
        """)
}
