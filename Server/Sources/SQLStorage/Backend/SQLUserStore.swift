import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

/// The users of one app.
public struct SQLUserStore: UserStore {
    private let database: any SQLDatabase
    private let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func create(name: UserName, role: UserRole, password: PasswordHash?, at now: Timestamp) async throws -> User {
        try await database.writing { [app] connection in
            let id = UserID(try BackendRows.next(.user, of: app, connection))
            let order = try connection.row(
                Self.insert,
                [
                    .integer(app.number), .integer(id.number), .text(name.text), .text(name.folded), .text(role.rawValue),
                    .optional(password?.stored), .integer(now.milliseconds),
                ])?.integer(0)
            return User(
                id: id, name: name, role: role, createdAt: now, order: OrderNumber(order ?? 0), credentialVersion: 1)
        }
    }

    public func user(named name: UserName) async throws -> StoredUser? {
        try await database.reading { [app] connection in
            guard let row = try connection.row(Self.selectByName, [.integer(app.number), .text(name.folded)]) else { return nil }
            let hash = try row.optionalText(6).flatMap { PasswordHash(stored: $0) }
            return StoredUser(user: try Self.user(row), password: hash)
        }
    }

    public func user(_ id: UserID) async throws -> User? {
        try await database.reading { [app] connection in
            try connection.row(Self.selectByID, [.integer(app.number), .integer(id.number)]).map(Self.user)
        }
    }

    public func setPassword(_ password: PasswordHash, of id: UserID) async throws -> Bool {
        try await database.writing { [app] connection in
            let changed = try connection.run(
                Self.updatePassword, [.text(password.stored), .integer(app.number), .integer(id.number)])
            try connection.run(SQLCredentialStore.deleteOfUser, [.integer(app.number), .integer(id.number)])
            return changed > 0
        }
    }

    public func replaceHash(_ old: PasswordHash, with new: PasswordHash, of id: UserID) async throws -> Bool {
        try await database.writing { [app] connection in
            try connection.run(
                Self.replaceHash, [.text(new.stored), .integer(app.number), .integer(id.number), .text(old.stored)]) > 0
        }
    }

    public func setRole(_ role: UserRole, of id: UserID) async throws -> Bool {
        try await database.writing { [app] connection in
            try connection.run(Self.updateRole, [.text(role.rawValue), .integer(app.number), .integer(id.number)]) > 0
        }
    }

    public func users(after name: UserName?, limit: Int) async throws -> [User] {
        try await database.reading { [app] connection in
            try connection.rows(
                Self.list, [.integer(app.number), .text(name?.folded ?? ""), .integer(Int64(limit))]
            ).map(Self.user)
        }
    }

    public func remove(_ id: UserID, mark: Int64, at now: Timestamp) async throws -> [RecordID]? {
        try await database.writing { [app] connection in
            guard try connection.run(Self.delete, [.integer(app.number), .integer(id.number)]) > 0 else { return nil }
            try connection.run(SQLCredentialStore.deleteOfUser, [.integer(app.number), .integer(id.number)])
            let records = try SQLBindingStore.closeAll(of: id, app, at: now, connection)
            for record in records {
                try SQLBindingStore.begin(DeviceChange(record, mark: mark), app, at: now, connection)
            }
            try BackendRows.audit(
                "user-removed", user: id, other: nil, record: nil, app: app, at: now, connection)
            return records
        }
    }
}

extension SQLUserStore {
    /// Also asked by the store of bindings, in the transaction of a sign-in.
    static func credentialVersion(of id: UserID, _ app: AppID, _ connection: any SQLConnection) throws -> Int64? {
        try connection.row(selectByID, [.integer(app.number), .integer(id.number)])?.integer(4)
    }

    static func user(_ row: SQLRow) throws -> User {
        guard let name = UserName(try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        guard let role = UserRole(rawValue: try row.text(2)) else { throw SQLFault.unexpectedColumn(2) }
        return User(
            id: UserID(try row.integer(0)), name: name, role: role, createdAt: Timestamp(milliseconds: try row.integer(3)),
            order: OrderNumber(try row.integer(5)), credentialVersion: try row.integer(4))
    }

    static let all = [insert, selectByName, selectByID, updatePassword, replaceHash, updateRole, list, delete]

    private static let insert = SQLStatement(
        composed: """
            INSERT INTO users (app_id, user_id, name, folded_name, role, password_hash, credential_version, created_at, order_number)
            VALUES ($1, $2, $3, $4, $5, $6, 1, $7, \(OrderNumbers.current)) RETURNING order_number
            """)
    private static let selectByName = SQLStatement(
        """
        SELECT user_id, name, role, created_at, credential_version, order_number, password_hash FROM users
        WHERE app_id = $1 AND folded_name = $2
        """)
    private static let selectByID = SQLStatement(
        "SELECT user_id, name, role, created_at, credential_version, order_number FROM users WHERE app_id = $1 AND user_id = $2")
    private static let updatePassword = SQLStatement(
        """
        UPDATE users SET password_hash = $1, credential_version = credential_version + 1
        WHERE app_id = $2 AND user_id = $3
        """)
    private static let replaceHash = SQLStatement(
        "UPDATE users SET password_hash = $1 WHERE app_id = $2 AND user_id = $3 AND password_hash = $4")
    private static let updateRole = SQLStatement("UPDATE users SET role = $1 WHERE app_id = $2 AND user_id = $3")
    private static let list = SQLStatement(
        """
        SELECT user_id, name, role, created_at, credential_version, order_number FROM users
        WHERE app_id = $1 AND folded_name > $2 ORDER BY folded_name LIMIT $3
        """)
    private static let delete = SQLStatement("DELETE FROM users WHERE app_id = $1 AND user_id = $2")
}
