import AppBackend
import RichPushModel

extension SQLPersonStore {
    /// Rows of one transaction.
    private static let batch = 100

    public func erase(_ user: User, at now: Timestamp) async throws {
        let traces = try await traces(of: user)
        try await eraseFromHubs(traces)
        try await removeNotifications(of: user, traces, at: now)
        try await removeFromAudiences(traces)
        // By the devices that were theirs, so before those go.
        for statement in [Self.deleteFeedback, Self.loosenFailures] { try await repeated(statement, user.id) }
        for statement in Self.owned { try await repeated(statement, user.id) }
        try await removeContents(of: user.id)
        try await loosenReceipts(of: user.id)
        for statement in [Self.loosenAudit, Self.loosenOtherAudit] { try await repeated(statement, user.id) }
        try await repeated(SQLCredentialStore.deleteOfUser, user.id, isBounded: false)
        try await repeated(Self.deleteUser, user.id, isBounded: false)
    }

    /// Runs a statement on the user's rows until it finds none.
    private func repeated(_ statement: SQLStatement, _ user: UserID, isBounded: Bool = true) async throws {
        let values: [SQLValue] =
            [.integer(app.number), .integer(user.number)] + (isBounded ? [.integer(Int64(Self.batch))] : [])
        while try await database.writing({ try $0.run(statement, values) }) > 0 {}
    }

    /// Those that they sent and those for them alone, all recalled before.
    private func removeNotifications(of user: User, _ traces: PersonTraces, at now: Timestamp) async throws {
        let keys = [AudienceKey.sender(user.id)] + traces.tags.map(AudienceKey.tag)
        for key in keys {
            var after: Int64 = 0
            while true {
                let page = try await database.reading { [app, after] connection in
                    try connection.rows(
                        Self.selectPage,
                        [.integer(app.number), .text(key.text), .integer(after), .integer(Int64(Self.batch))])
                }
                guard let last = page.last else { break }
                for row in page where try row.integer(1) == user.id.number || traces.areAll(of: row.text(2)) {
                    try await remove(try row.integer(0), at: now)
                }
                after = try last.integer(0)
            }
        }
    }

    private func remove(_ id: Int64, at now: Timestamp) async throws {
        var isThere = true
        while isThere {
            isThere = try await database.writing { [app] connection in
                try NotificationRemoval.run(id, app, at: now, limit: Self.batch, connection) > 0
            }
        }
    }

    /// Everybody's notifications that name the person among others.
    private func removeFromAudiences(_ traces: PersonTraces) async throws {
        var after: Int64 = 0
        while true {
            let page = try await database.reading { [app, after] connection in
                try connection.rows(
                    Self.selectAudiences, [.integer(app.number), .integer(after), .integer(Int64(Self.batch * 5))])
            }
            guard let last = page.last else { return }
            for row in page {
                guard let audience = traces.removed(from: try row.text(1)) else { continue }
                try await database.writing { [app] connection in
                    let key: [SQLValue] = [.integer(app.number), row.values[0]]
                    try connection.run(Self.updateAudience, [.text(audience)] + key)
                    for tag in traces.tags { try connection.run(Self.deleteKey, key + [.text(AudienceKey.tag(tag).text)]) }
                }
            }
            after = try last.integer(0)
        }
    }

    private func removeContents(of user: UserID) async throws {
        var isMore = true
        while isMore {
            isMore = try await database.writing { [app] connection in
                let rows = try connection.rows(
                    Self.selectContents, [.integer(app.number), .integer(user.number), .integer(Int64(Self.batch))])
                for row in rows { try SQLContentCatalog.remove(row, app, connection) }
                return !rows.isEmpty
            }
        }
    }

    /// The numbers of those who sent stay right, and nobody is behind them.
    private func loosenReceipts(of user: UserID) async throws {
        var after = ""
        while true {
            let page = try await database.reading { [app, after] connection in
                try connection.rows(
                    Self.selectReceipts,
                    [.integer(app.number), .integer(user.number), .text(after), .integer(Int64(Self.batch))])
            }
            guard let last = page.last else { return }
            let names = page.map { _ in "erased-\(UInt64.random(in: .min ... .max))-\(UInt64.random(in: .min ... .max))" }
            try await database.writing { [app] connection in
                for (row, nobody) in zip(page, names) {
                    try connection.run(Self.loosenReceipt, [.text(nobody), .integer(app.number), row.values[0]])
                }
            }
            after = try last.text(0)
        }
    }
}

extension SQLPersonStore {
    static let eraseStatements =
        owned + [
            selectPage, selectAudiences, updateAudience, deleteKey, selectContents, selectReceipts,
            loosenReceipt, loosenAudit, loosenOtherAudit, deleteUser,
        ]

    private static let owned = [deleteBindings, deleteTags, deleteMarks, deleteIdempotencyKeys]

    private static let selectPage = SQLStatement(
        """
        SELECT n.rich_id, n.sender_id, n.audience FROM audience_index a
        JOIN rich_notifications n ON n.app_id = a.app_id AND n.rich_id = a.rich_id
        WHERE a.app_id = $1 AND a.audience_key = $2 AND a.rich_id > $3 ORDER BY a.rich_id LIMIT $4
        """)
    private static let selectAudiences = SQLStatement(
        "SELECT rich_id, audience FROM rich_notifications WHERE app_id = $1 AND rich_id > $2 ORDER BY rich_id LIMIT $3")
    private static let updateAudience = SQLStatement(
        "UPDATE rich_notifications SET audience = $1 WHERE app_id = $2 AND rich_id = $3")
    private static let deleteKey = SQLStatement(
        "DELETE FROM audience_index WHERE app_id = $1 AND rich_id = $2 AND audience_key = $3")
    private static let selectContents = SQLStatement(
        "SELECT content_id, digest FROM contents WHERE app_id = $1 AND owner_id = $2 LIMIT $3")
    private static let selectReceipts = SQLStatement(
        """
        SELECT receipt_key FROM receipts WHERE app_id = $1 AND user_id = $2 AND receipt_key > $3 ORDER BY receipt_key LIMIT $4
        """)
    private static let loosenReceipt = SQLStatement(
        """
        UPDATE receipts SET user_id = 0, installation_id = $1, receipt_key = $1, action = NULL
        WHERE app_id = $2 AND receipt_key = $3
        """)
    private static let loosenAudit = SQLStatement(
        """
        UPDATE backend_audit SET user_id = 0, record_id = NULL WHERE app_id = $1 AND entry_id IN (
            SELECT entry_id FROM backend_audit WHERE app_id = $1 AND user_id = $2 LIMIT $3)
        """)
    private static let loosenOtherAudit = SQLStatement(
        """
        UPDATE backend_audit SET other_user_id = NULL, record_id = NULL WHERE app_id = $1 AND entry_id IN (
            SELECT entry_id FROM backend_audit WHERE app_id = $1 AND other_user_id = $2 LIMIT $3)
        """)
    private static let deleteUser = SQLStatement("DELETE FROM users WHERE app_id = $1 AND user_id = $2")
    private static let deleteBindings = SQLStatement(
        """
        DELETE FROM bindings WHERE app_id = $1 AND binding_id IN (
            SELECT binding_id FROM bindings WHERE app_id = $1 AND user_id = $2 LIMIT $3)
        """)
    private static let deleteTags = SQLStatement(
        """
        DELETE FROM user_tags WHERE app_id = $1 AND user_id = $2 AND audience_key IN (
            SELECT audience_key FROM user_tags WHERE app_id = $1 AND user_id = $2 LIMIT $3)
        """)
    private static let deleteMarks = SQLStatement(
        """
        DELETE FROM read_marks WHERE app_id = $1 AND user_id = $2 AND rich_id IN (
            SELECT rich_id FROM read_marks WHERE app_id = $1 AND user_id = $2 LIMIT $3)
        """)
    private static let deleteIdempotencyKeys = SQLStatement(
        """
        DELETE FROM repeat_keys WHERE app_id = $1 AND user_id = $2 AND repeat_key IN (
            SELECT repeat_key FROM repeat_keys WHERE app_id = $1 AND user_id = $2 LIMIT $3)
        """)
}
