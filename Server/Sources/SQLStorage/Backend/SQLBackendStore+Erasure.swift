import AppBackend
import PushHub
import RichPushModel

/// Erasure of one user, in small transactions. A hub elsewhere offers only devices and sends, through its port; the hubs of the same database
/// are cleaned here.
extension SQLBackendStore {
    /// Rows of one transaction.
    private static let batch = 100

    public func erase(_ user: User, at now: Timestamp) async throws {
        let traces = try await traces(of: user)
        for hub in try await reading({ try $0.hubs() }) {
            let id = HubID(try hub.integer(0))
            for tag in traces.tags {
                try await removeDevices(tag, id)
                _ = try await database.writing { try $0.run(FrequencyCounts.delete, [.integer(id.number), .text(tag.folded)]) }
            }
            try await removeFromSends(traces, id)
            try await blankActivitySends(of: traces, id)
        }
        try await removeNotifications(traces, at: now)
        try await removeFromAudiences(traces)
        try await removeFromSchedules(traces, at: now)
        // By the devices that were theirs, so before those go.
        for statement in [ErasureSQL.deleteFeedback, ErasureSQL.loosenFailures] + ErasureSQL.owned {
            try await repeated { try $0.run(statement, user.id, Self.batch) }
        }
        try await repeated { try $0.removeSchedules(of: user.id, limit: Self.batch) }
        try await removeFromActivities(traces)
        try await repeated { try $0.run(ErasureSQL.loosenChannels, user.id, Self.batch) }
        try await repeated { try $0.removeContents(of: user.id, limit: Self.batch) }
        try await loosenReceipts(of: user.id)
        for statement in [ErasureSQL.loosenKeys, ErasureSQL.loosenTokens, ErasureSQL.loosenTemplates] {
            try await repeated { try $0.run(statement, "user \(user.name.folded)", Self.batch) }
        }
        try await repeated { try $0.run(ErasureSQL.loosenApprovals, user.name.folded, Self.batch) }
        try await repeated { try $0.removeDeliveries(naming: user.name, limit: Self.batch) }
        try await repeated { try $0.removeCredentials(of: user.id) }
        try await repeated { try $0.removeSignInTokens(of: user.id) }
        try await repeated { try $0.buryIdentities(of: user.id, at: now) }
        try await repeated { try $0.remove(user.id) }
    }

    /// Does the work, a transaction at a time, until it finds no rows.
    private func repeated(_ work: @escaping @Sendable (BackendTransaction) throws -> Int) async throws {
        while try await writing(work) > 0 {}
    }

    /// Those that they sent and those for them alone, all recalled before.
    private func removeNotifications(_ traces: UserTraces, at now: Timestamp) async throws {
        for key in traces.keys {
            var after: Int64 = 0
            while true {
                let page = try await reading { [after] in try $0.rows(ErasureSQL.selectPage, key, after, Self.batch) }
                guard let last = page.last else { break }
                for row in page where try row.integer(1) == traces.user.number || traces.areAll(of: row.text(2)) {
                    let id = try row.integer(0)
                    try await repeated { try $0.removeNotification(id, at: now, limit: Self.batch) }
                }
                after = try last.integer(0)
            }
        }
    }

    /// Removes the user from audiences that name other users as well.
    private func removeFromAudiences(_ traces: UserTraces) async throws {
        var after: Int64 = 0
        while true {
            let page = try await reading { [after] in try $0.rows(ErasureSQL.selectAudiences, after, Self.batch * 5) }
            guard let last = page.last else { return }
            for row in page {
                guard let audience = traces.removed(from: try row.text(1)) else { continue }
                try await writing { transaction in
                    try transaction.run(ErasureSQL.updateAudience, row.values[0], audience)
                    for tag in traces.tags { try transaction.run(ErasureSQL.deleteKey, row.values[0], AudienceKey.tag(tag)) }
                }
            }
            after = try last.integer(0)
        }
    }

    /// Removes the schedules for the user alone, and the user from the audiences of others. A new revision, so that no node sends what it
    /// read before.
    private func removeFromSchedules(_ traces: UserTraces, at now: Timestamp) async throws {
        var after: Int64 = 0
        while true {
            let page = try await reading { [after] in try $0.rows(ErasureSQL.selectSchedules, after, Self.batch * 5) }
            guard let last = page.last else { return }
            for row in page {
                let old = try row.text(1)
                guard let audience = traces.removed(from: old) else { continue }
                let isTheirs = traces.areAll(of: old)
                try await writing { transaction in
                    if isTheirs {
                        try transaction.removeSchedule(try row.integer(0), at: now)
                    } else {
                        try transaction.run(ErasureSQL.updateSchedule, row.values[0], audience)
                    }
                }
            }
            after = try last.integer(0)
        }
    }

    /// Removes the activities of the user and those for them alone, and the user from the audiences of others.
    private func removeFromActivities(_ traces: UserTraces) async throws {
        var after: Int64 = 0
        while true {
            let page = try await reading { [after] in try $0.rows(ErasureSQL.selectActivities, after, Self.batch * 5) }
            guard let last = page.last else { return }
            for row in page {
                let (id, old) = (try row.integer(0), try row.text(1))
                let audience = traces.removed(from: old)
                let isTheirs = try row.integer(2) == traces.user.number || traces.areAll(of: old)
                guard isTheirs || audience != nil else { continue }
                try await writing { transaction in
                    if isTheirs {
                        try transaction.removeActivity(id)
                    } else {
                        try transaction.run(ErasureSQL.updateActivity, id, audience)
                    }
                }
            }
            after = try last.integer(0)
        }
    }

    /// Takes the text out of the sends of their activities, and of those for them alone. A push of one names the activity and no user.
    private func blankActivitySends(of traces: UserTraces, _ hub: HubID) async throws {
        var after: Int64 = 0
        while true {
            let page = try await reading { [after] in try $0.rows(ErasureSQL.selectActivities, after, Self.batch * 5) }
            guard let last = page.last else { return }
            for row in page where try row.integer(2) == traces.user.number || traces.areAll(of: row.text(1)) {
                let audience = InstallationToken.Kind.tag(ofActivity: "\(try row.integer(0))")?.text ?? ""
                let values: [SQLValue] = [
                    .bytes(Array("{}".utf8)), .integer(hub.number), row.values[3], .text(audience), .text("\(audience) %"),
                ]
                _ = try await database.writing { try $0.run(ErasureSQL.blankActivity, values) }
            }
            after = try last.integer(0)
        }
    }

    /// Replaces the user in receipts by random aliases, so that senders' counts stay correct.
    private func loosenReceipts(of user: UserID) async throws {
        var after = ""
        while true {
            let page = try await reading { [after] in try $0.rows(ErasureSQL.selectReceipts, user, after, Self.batch) }
            guard let last = page.last else { return }
            let names = page.map { _ in "erased-\(UInt64.random(in: .min ... .max))-\(UInt64.random(in: .min ... .max))" }
            try await writing { transaction in
                for (row, alias) in zip(page, names) { try transaction.run(ErasureSQL.loosenReceipt, row.values[0], alias) }
            }
            after = try last.text(0)
        }
    }
}

/// A user's data in the hubs of the same database.
extension SQLBackendStore {
    /// Removes every device with a tag of the user.
    private func removeDevices(_ tag: Tag, _ hub: HubID) async throws {
        try await repeated { transaction in
            let connection = transaction.connection
            let rows = try connection.rows(ErasureSQL.selectTagged, [.integer(hub.number), .text(tag.folded)])
            for row in rows { try DeviceRows.remove(try DeviceRow(row), in: hub, connection) }
            return rows.count
        }
    }

    /// Removes the user from the audiences of sends. The texts of ended sends to the user alone are removed too.
    private func removeFromSends(_ traces: UserTraces, _ hub: HubID) async throws {
        var after = ""
        while true {
            let page = try await database.reading { [after] in
                try $0.rows(ErasureSQL.selectSends, [.integer(hub.number), .text(after)])
            }
            guard let last = page.last else { return }
            for row in page {
                guard let old = try row.optionalText(1), let audience = traces.removed(from: old) else { continue }
                let key: [SQLValue] = [.integer(hub.number), row.values[0]]
                let isTheirs = traces.areAll(of: old)
                try await database.writing { connection in
                    try connection.run(ErasureSQL.updateSend, [.text(audience)] + key)
                    try connection.run(ErasureSQL.updateSlices, key)
                    if isTheirs { try connection.run(ErasureSQL.blankEnded, [.bytes(Array("{}".utf8))] + key) }
                }
            }
            after = try last.text(0)
        }
    }
}

extension SQLStatement { static let ofErasure = ErasureSQL.all }

private enum ErasureSQL {
    static let all =
        owned + [
            selectPage, selectAudiences, updateAudience, deleteKey, selectReceipts, loosenReceipt, selectSchedules,
            updateSchedule, selectActivities, updateActivity, blankActivity,
            loosenKeys, loosenTokens, loosenTemplates, loosenChannels, loosenApprovals, selectTagged, selectSends, updateSend,
            updateSlices,
            blankEnded,
            deleteFeedback,
            loosenFailures,
        ]

    /// What goes with the user as it is.
    static let owned =
        [deleteBindings]
        + [
            ("user_tags", "audience_key"), ("read_marks", "rich_id"), ("repeat_keys", "repeat_key"),
            ("installation_tokens", "token_key"),
        ].map { table, key in
            SQLStatement(
                composed: """
                    DELETE FROM \(table) WHERE app_id = $1 AND user_id = $2 AND \(key) IN (
                        SELECT \(key) FROM \(table) WHERE app_id = $1 AND user_id = $2 LIMIT $3)
                    """)
        }

    static let selectPage = SQLStatement(
        """
        SELECT n.rich_id, n.sender_id, n.audience FROM audience_index a
        JOIN rich_notifications n ON n.app_id = a.app_id AND n.rich_id = a.rich_id
        WHERE a.app_id = $1 AND a.audience_key = $2 AND a.rich_id > $3 ORDER BY a.rich_id LIMIT $4
        """)
    static let selectAudiences = SQLStatement(
        "SELECT rich_id, audience FROM rich_notifications WHERE app_id = $1 AND rich_id > $2 ORDER BY rich_id LIMIT $3")
    static let updateAudience = SQLStatement("UPDATE rich_notifications SET audience = $3 WHERE app_id = $1 AND rich_id = $2")
    static let deleteKey = SQLStatement("DELETE FROM audience_index WHERE app_id = $1 AND rich_id = $2 AND audience_key = $3")
    static let selectSchedules = SQLStatement(
        "SELECT schedule_id, audience FROM schedules WHERE app_id = $1 AND schedule_id > $2 ORDER BY schedule_id LIMIT $3")
    static let updateSchedule = SQLStatement(
        "UPDATE schedules SET audience = $3, revision = revision + 1 WHERE app_id = $1 AND schedule_id = $2")
    static let selectActivities = SQLStatement(
        """
        SELECT activity_id, audience, owner_id, start_send FROM activities WHERE app_id = $1 AND activity_id > $2 ORDER BY activity_id LIMIT $3
        """)
    static let updateActivity = SQLStatement("UPDATE activities SET audience = $3 WHERE app_id = $1 AND activity_id = $2")
    /// That with the start, and those to the followers or to one of them.
    static let blankActivity = SQLStatement(
        """
        UPDATE notifications SET body = $1 WHERE hub_id = $2
            AND (notification_id = $3 OR audience = $4 OR audience LIKE ('' || $5))
        """)
    static let selectReceipts = SQLStatement(
        """
        SELECT receipt_key FROM receipts WHERE app_id = $1 AND user_id = $2 AND receipt_key > $3 ORDER BY receipt_key LIMIT $4
        """)
    static let loosenReceipt = SQLStatement(
        """
        UPDATE receipts SET user_id = 0, installation_id = $3, receipt_key = $3, action = NULL
        WHERE app_id = $1 AND receipt_key = $2
        """)
    /// Keys, tokens and templates that the user made stay, without the name.
    static let loosenKeys = SQLStatement(
        """
        UPDATE service_keys SET created_by = 'user' WHERE app_id = $1 AND key_id IN (
            SELECT key_id FROM service_keys WHERE app_id = $1 AND LOWER(created_by) = $2 LIMIT $3)
        """)
    static let loosenTokens = SQLStatement(
        """
        UPDATE sign_in_tokens SET created_by = 'user' WHERE app_id = $1 AND digest IN (
            SELECT digest FROM sign_in_tokens WHERE app_id = $1 AND LOWER(created_by) = $2 LIMIT $3)
        """)
    static let loosenTemplates = SQLStatement(
        """
        UPDATE message_templates SET created_by = 'user' WHERE app_id = $1 AND (name, version) IN (
            SELECT name, version FROM message_templates WHERE app_id = $1 AND LOWER(created_by) = $2 LIMIT $3)
        """)
    /// Apps may follow it, so it stays, for administrators.
    static let loosenChannels = SQLStatement(
        """
        UPDATE channels SET owner_id = 0 WHERE app_id = $1 AND channel_id IN (
            SELECT channel_id FROM channels WHERE app_id = $1 AND owner_id = $2 LIMIT $3)
        """)
    static let loosenApprovals = SQLStatement(
        """
        UPDATE schedules SET approved_by = NULL WHERE app_id = $1 AND schedule_id IN (
            SELECT schedule_id FROM schedules WHERE app_id = $1 AND LOWER(approved_by) = $2 LIMIT $3)
        """)
    static let deleteBindings = SQLStatement(
        """
        DELETE FROM bindings WHERE app_id = $1 AND binding_id IN (
            SELECT binding_id FROM bindings WHERE app_id = $1 AND user_id = $2 LIMIT $3)
        """)
    static let selectTagged = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columnsOfD)
            FROM device_tags t JOIN devices d ON d.hub_id = t.hub_id AND d.slice_key = t.slice_key
            WHERE t.hub_id = $1 AND t.tag = $2 LIMIT 100
            """)
    static let deleteFeedback = SQLStatement(
        """
        DELETE FROM feedback WHERE number IN (SELECT f.number FROM bindings b JOIN feedback f ON f.record_id = b.record_id
            WHERE b.app_id = $1 AND b.user_id = $2 LIMIT $3)
        """)
    /// The failure stays, without its record.
    static let loosenFailures = SQLStatement(
        """
        UPDATE target_failures SET record_id = NULL WHERE (hub_id, notification_id, slice, slice_key) IN (
            SELECT f.hub_id, f.notification_id, f.slice, f.slice_key
            FROM bindings b JOIN target_failures f ON f.record_id = b.record_id
            WHERE b.app_id = $1 AND b.user_id = $2 LIMIT $3)
        """)
    static let selectSends = SQLStatement(
        """
        SELECT notification_id, audience FROM notifications
        WHERE hub_id = $1 AND notification_id > $2 ORDER BY notification_id LIMIT 500
        """)
    /// The compiled audience names the user as well; the audience of a running send is compiled again.
    static let updateSend = SQLStatement(
        "UPDATE notifications SET audience = $1, audience_query = NULL WHERE hub_id = $2 AND notification_id = $3")
    static let updateSlices = SQLStatement(
        "UPDATE slices SET audience_query = NULL WHERE hub_id = $1 AND notification_id = $2 AND audience_query IS NOT NULL")
    static let blankEnded = SQLStatement(
        """
        UPDATE notifications SET body = $1, collapse_id = NULL
        WHERE hub_id = $2 AND notification_id = $3 AND ended_at IS NOT NULL
        """)
}
