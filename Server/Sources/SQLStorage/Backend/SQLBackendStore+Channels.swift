import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// Broadcast channels.
extension SQLBackendStore {
    public func addChannel(_ draft: ChannelDraft, audit entry: AuditEntry?) async throws -> ActivityChannel {
        try await writing { transaction in
            try transaction.requireUser(draft.owner)
            let id = try transaction.next(.channel)
            try transaction.run(
                ChannelSQL.insert, id, draft.owner, draft.name, draft.apnsChannel, draft.keepsLatest ? 1 : 0, draft.createdAt,
                draft.removeAt)
            try transaction.audit(entry, object: "\(id)")
            return ActivityChannel(id: id, draft: draft)
        }
    }

    public func channel(_ id: Int64) async throws -> ActivityChannel? {
        try await reading { try $0.row(ChannelSQL.select, id).map(ChannelSQL.channel) }
    }

    public func channels(of owner: UserID?, below: Int64?, limit: Int) async throws -> [ActivityChannel] {
        try await reading { transaction in
            let rows =
                if let owner {
                    try transaction.rows(ChannelSQL.listOfOwner, below ?? .max, limit, owner)
                } else {
                    try transaction.rows(ChannelSQL.list, below ?? .max, limit)
                }
            return try rows.map(ChannelSQL.channel)
        }
    }

    public func countChannels() async throws -> Int {
        try await reading { Int(try $0.row(ChannelSQL.count)?.integer(0) ?? 0) }
    }

    public func activity(onChannel id: Int64) async throws -> Int64? {
        try await reading { try $0.row(ChannelSQL.selectCarried, id)?.integer(0) }
    }

    public func retireChannel(_ id: Int64, at now: Timestamp, audit entry: AuditEntry?) async throws {
        try await writing { transaction in
            // This locks the row, so that no activity begins on it meanwhile.
            guard try transaction.run(ChannelSQL.setRemoval, id, now) > 0 else {
                throw ServiceError(.notFound, "there is no such channel")
            }
            try transaction.requireIdle(id)
            try transaction.audit(entry)
        }
    }

    public func dueChannels(at now: Timestamp, limit: Int) async throws -> [ActivityChannel] {
        try await reading { try $0.rows(ChannelSQL.selectDue, now, limit).map(ChannelSQL.channel) }
    }

    public func removeChannel(_ id: Int64) async throws { _ = try await writing { try $0.run(ChannelSQL.delete, id) } }

    public func postponeChannel(_ id: Int64, until moment: Timestamp) async throws {
        _ = try await writing { try $0.run(ChannelSQL.setRemoval, id, moment) }
    }
}

extension BackendTransaction {
    /// Refuses a channel that carries an activity, is about to be removed, or is not there.
    func requireFree(_ channel: Int64, at now: Timestamp) throws {
        // The row is locked, so that of two activities at once one is refused.
        guard try run(ChannelSQL.lock, channel, now) > 0 else {
            throw ServiceError(.conflict, "the channel was removed")
        }
        try requireIdle(channel)
    }

    fileprivate func requireIdle(_ channel: Int64) throws {
        guard let activity = try row(ChannelSQL.selectCarried, channel)?.integer(0) else { return }
        throw ServiceError(.conflict, "the channel carries activity \(activity), which has not ended")
    }

    /// The activity of a channel is over: one that was made for it is removed when APNs keeps nothing of it any more, or at once when the
    /// activity itself is removed.
    func hasten(_ channel: Int64, after end: Timestamp? = nil) throws {
        try run(ChannelSQL.hasten, channel, end.map { $0 + ActivityChannel.storageTime } ?? Timestamp(seconds: 0))
    }
}

extension SQLStatement { static let ofChannels = ChannelSQL.all }

private enum ChannelSQL {
    static let all = [
        insert, select, list, listOfOwner, count, selectCarried, lock, selectDue, setRemoval, hasten, delete,
    ]

    static func channel(_ row: SQLRow) throws -> ActivityChannel {
        ActivityChannel(
            id: try row.integer(0),
            draft: ChannelDraft(
                owner: UserID(try row.integer(1)), name: try row.optionalText(2), apnsChannel: try row.text(3),
                keepsLatest: try row.integer(4) == 1, createdAt: try row.moment(5), removeAt: try row.optionalMoment(6)))
    }

    private static let columns = "channel_id, owner_id, name, apns_channel, keeps_latest, created_at, remove_at"
    static let insert = SQLStatement(
        composed: "INSERT INTO channels (app_id, \(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
    static let select = SQLStatement(composed: "SELECT \(columns) FROM channels WHERE app_id = $1 AND channel_id = $2")
    static let list = SQLStatement(
        composed: "SELECT \(columns) FROM channels WHERE app_id = $1 AND channel_id < $2 ORDER BY channel_id DESC LIMIT $3")
    static let listOfOwner = SQLStatement(
        composed: """
            SELECT \(columns) FROM channels WHERE app_id = $1 AND owner_id = $4 AND channel_id < $2
            ORDER BY channel_id DESC LIMIT $3
            """)
    static let count = SQLStatement("SELECT COUNT(*) FROM channels WHERE app_id = $1")
    /// An end that has not left would end the next activity.
    static let selectCarried = SQLStatement(
        """
        SELECT activity_id FROM activities WHERE app_id = $1 AND channel_id = $2 AND (phase = 'active' OR work_at IS NOT NULL)
        ORDER BY activity_id DESC LIMIT 1
        """)
    static let lock = SQLStatement(
        """
        UPDATE channels SET channel_id = channel_id
        WHERE app_id = $1 AND channel_id = $2 AND (remove_at IS NULL OR remove_at > $3)
        """)
    static let selectDue = SQLStatement(
        composed: """
            SELECT \(columns) FROM channels WHERE app_id = $1 AND remove_at <= $2 AND NOT EXISTS (
                SELECT 1 FROM activities WHERE activities.app_id = channels.app_id AND activities.channel_id = channels.channel_id
                AND (phase = 'active' OR work_at IS NOT NULL))
            ORDER BY remove_at, channel_id LIMIT $3
            """)
    static let setRemoval = SQLStatement("UPDATE channels SET remove_at = $3 WHERE app_id = $1 AND channel_id = $2")
    static let hasten = SQLStatement(
        "UPDATE channels SET remove_at = $3 WHERE app_id = $1 AND channel_id = $2 AND remove_at > $3")
    static let delete = SQLStatement("DELETE FROM channels WHERE app_id = $1 AND channel_id = $2")
}
