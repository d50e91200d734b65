import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Live Activities.
extension SQLBackendStore {
    public func addActivity(
        _ draft: ActivityDraft, key: IdempotencyKey?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> LiveActivity {
        let (attributes, content) = (try draft.attributes.storedText, try draft.content.storedText)
        return try await writing { transaction in
            try transaction.requireUser(draft.owner)
            if let key, let earlier = try transaction.activity(repeating: key, of: draft.owner) { return earlier }
            // The counter's row orders requests at the same moment.
            let id = try transaction.next(.activity)
            let active = try transaction.row(ActivitySQL.countActive, draft.owner)?.integer(0) ?? 0
            guard active < LiveActivity.limit else {
                throw ServiceError(.quotaExceeded, "\(LiveActivity.limit) activities of yours are active already; end one")
            }
            try transaction.run(
                ActivitySQL.insert, id, draft.owner, draft.ownerName.text, draft.attributesType, attributes,
                draft.startsByPush ? 1 : 0, draft.audience.description, content, now, key?.key, key?.digest)
            try transaction.audit(entry, object: "\(id)")
            return LiveActivity(id: id, draft: draft, createdAt: now)
        }
    }

    public func changeActivity(
        _ id: Int64, revision: Int64, to content: ActivityContent, phase: LiveActivity.Phase, due: Timestamp, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> LiveActivity? {
        let text = try content.storedText
        return try await writing { transaction in
            let ended = phase == .ended ? now : nil
            guard try transaction.run(ActivitySQL.change, id, revision, text, phase.rawValue, ended, due) > 0 else { return nil }
            try transaction.audit(entry)
            return try transaction.activity(id)
        }
    }

    public func activity(_ id: Int64) async throws -> LiveActivity? {
        try await reading { try $0.activity(id) }
    }

    public func activity(repeating key: IdempotencyKey, of user: UserID) async throws -> LiveActivity? {
        try await reading { try $0.activity(repeating: key, of: user) }
    }

    public func activities(of owner: UserID?, below: Int64?, limit: Int) async throws -> [LiveActivity] {
        try await reading { transaction in
            let rows =
                if let owner {
                    try transaction.rows(ActivitySQL.listOfOwner, below ?? .max, limit, owner)
                } else {
                    try transaction.rows(ActivitySQL.list, below ?? .max, limit)
                }
            return try rows.map(ActivitySQL.activity)
        }
    }

    public func followers(of activities: [Int64]) async throws -> [Int64: [String: Int]] {
        try await reading { transaction in
            var counts: [Int64: [String: Int]] = [:]
            for id in activities {
                for row in try transaction.rows(InstallationTokenSQL.countFollowers, id) {
                    counts[id, default: [:]][try row.text(0)] = Int(try row.integer(1))
                }
            }
            return counts
        }
    }

    public func claimActivities(at now: Timestamp, until: Timestamp, limit: Int) async throws -> [ActivityClaim] {
        // A round that finds nothing, as nearly all do, writes nothing.
        guard try await reading({ try $0.row(ActivitySQL.selectDue, now, 1) }) != nil else { return [] }
        return try await writing { transaction in
            try transaction.rows(ActivitySQL.selectDue, now, limit).map { row in
                var activity = try ActivitySQL.activity(row)
                activity.stamp = max(now.seconds, activity.stamp + 1)
                try transaction.run(ActivitySQL.claim, activity.id, until, activity.stamp)
                return ActivityClaim(activity, until: until)
            }
        }
    }

    public func publish(
        _ claim: ActivityClaim, startSend: NotificationID?, updateSend: NotificationID?, at now: Timestamp
    ) async throws {
        let activity = claim.activity
        try await writing { transaction in
            let found = try transaction.row(ActivitySQL.selectClaimed, activity.id, claim.until)
            guard var current = try found.map(ActivitySQL.activity) else { return }
            let isNewest = current.revision == activity.revision
            // Shown once; that of a later change is another.
            if current.draft.content.alert == activity.draft.content.alert { current.draft.content.alert = nil }
            try transaction.run(
                ActivitySQL.publish, activity.id, activity.revision, startSend?.text, updateSend?.text,
                try current.draft.content.storedText, isNewest ? nil : Timestamp(seconds: activity.stamp + 1))
        }
    }

    public func postponeActivity(_ claim: ActivityClaim, until moment: Timestamp, fault: String) async throws {
        _ = try await writing {
            try $0.run(ActivitySQL.postpone, claim.activity.id, claim.until, moment, fault)
        }
    }

    public func endActivities(createdBefore moment: Timestamp, at now: Timestamp, limit: Int) async throws -> Int {
        try await writing { try $0.run(ActivitySQL.endOld, moment, now, limit) }
    }

    public func removeActivities(endedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { transaction in
            let ended = try transaction.rows(ActivitySQL.selectEnded, moment, limit)
            for row in ended { try transaction.removeActivity(try row.integer(0)) }
            return ended.count
        }
    }
}

/// The tokens that installations report.
extension SQLBackendStore {
    public func store(
        _ report: DeviceActivities, of record: RecordID, user: UserID, at now: Timestamp
    ) async throws -> [Int64]? {
        try await writing { transaction in
            guard let binding = try transaction.currentBinding(of: record), binding.user == user else { return nil }
            let known = try transaction.rows(InstallationTokenSQL.select, record)
            var stale = Dictionary(uniqueKeysWithValues: try known.map { (try $0.text(0), try $0.integer(4)) })
                .filter {
                    $0.value != user.number || $0.key.hasPrefix("activity:")
                        || report.replacesControls && $0.key.hasPrefix("control:")
                }
            for token in report.tokens {
                try transaction.put(token.kind, of: record, user, token.handle, state: "", revision: nil, at: token.reportedAt)
                stale[token.kind.stored] = nil
            }
            var over: [Int64] = []
            for entry in report.activities {
                guard let activity = try transaction.activity(entry.id),
                    activity.draft.audience.matches(binding.device.matchingTags)
                else {
                    if entry.state != nil { over.append(entry.id) }
                    continue
                }
                guard let state = entry.state else { continue }
                let kind = InstallationToken.Kind.activity(id: "\(entry.id)")
                let row = try known.first { try $0.text(0) == kind.stored && $0.integer(4) == user.number }
                let handle = try entry.handle?.text ?? row?.optionalText(1)
                if activity.phase == .ended, handle == nil {
                    over.append(entry.id)
                    continue
                }
                try transaction.put(
                    kind, of: record, user, entry.handle,
                    state: handle == nil ? ActivityTokenState.starting.rawValue : state.rawValue,
                    revision: entry.revision, activity: entry.id, at: now)
                stale[kind.stored] = nil
                let isCurrent = activity.phase == .active && entry.revision == activity.revision
                let isKnown = try entry.revision == nil && row?.optionalText(1) == handle && activity.phase == .active
                if handle != nil, !isCurrent, !isKnown {
                    try transaction.run(InstallationTokenSQL.setCatchUp, record, kind.stored, now, report.mark)
                }
            }
            for name in stale.keys { try transaction.run(InstallationTokenSQL.delete, record, name) }
            guard try transaction.rows(InstallationTokenSQL.select, record).count <= InstallationToken.limit else {
                throw ServiceError(.quotaExceeded, "an installation has at most \(InstallationToken.limit) tokens beside its own")
            }
            return over
        }
    }

    public func tokens(of record: RecordID, user: UserID) async throws -> [InstallationToken] {
        try await reading { transaction in
            try transaction.rows(InstallationTokenSQL.select, record).compactMap { row in
                guard try row.integer(4) == user.number, let handle = try row.optionalText(1),
                    let kind = InstallationToken.Kind(stored: try row.text(0))
                else { return nil }
                return InstallationToken(kind, handle: DeviceToken(canonical: handle), reportedAt: try row.moment(2))
            }
        }
    }

    public func forgetTokens(of record: RecordID) async throws {
        guard try await reading({ try $0.row(InstallationTokenSQL.select, record) }) != nil else { return }
        _ = try await writing { try $0.run(InstallationTokenSQL.deleteAll, record) }
    }

    public func claimCatchUps(at now: Timestamp, until: Timestamp, limit: Int) async throws -> [ActivityCatchUp] {
        guard try await reading({ try $0.row(InstallationTokenSQL.selectCatchUps, now, 1) }) != nil else { return [] }
        return try await writing { transaction in
            try transaction.rows(InstallationTokenSQL.selectCatchUps, now, limit).map { row in
                let catchUp = ActivityCatchUp(
                    activity: try row.integer(2), record: try row.parsed(0) { RecordID($0) }, mark: try row.integer(3))
                try transaction.run(InstallationTokenSQL.setCatchUp, catchUp.record, try row.text(1), until, catchUp.mark)
                return catchUp
            }
        }
    }

    public func endCatchUp(_ catchUp: ActivityCatchUp) async throws {
        let kind = InstallationToken.Kind.activity(id: "\(catchUp.activity)").stored
        _ = try await writing { try $0.run(InstallationTokenSQL.endCatchUp, catchUp.record, kind, catchUp.mark) }
    }
}

extension BackendTransaction {
    /// Removes an activity with what devices reported of it.
    func removeActivity(_ id: Int64) throws {
        try run(InstallationTokenSQL.deleteOfActivity, id)
        try run(ActivitySQL.delete, id)
    }

    fileprivate func activity(_ id: Int64) throws -> LiveActivity? {
        try row(ActivitySQL.select, id).map(ActivitySQL.activity)
    }

    fileprivate func activity(repeating key: IdempotencyKey, of user: UserID) throws -> LiveActivity? {
        guard let row = try row(ActivitySQL.selectRepeated, user, key.key) else { return nil }
        guard try row.bytes(ActivitySQL.columnCount) == key.digest else {
            throw ServiceError(.idempotencyMismatch, "this Idempotency-Key was used for another request")
        }
        return try ActivitySQL.activity(row)
    }

    /// Stores what a device reported of a token. The moment is that at which this value was reported first.
    fileprivate func put(
        _ kind: InstallationToken.Kind, of record: RecordID, _ user: UserID, _ handle: DeviceToken?, state: String,
        revision: Int64?, activity: Int64? = nil, at now: Timestamp
    ) throws {
        try run(
            InstallationTokenSQL.put, "\(record.text) \(kind.stored)", record, kind.stored, user, handle?.text, state, revision,
            activity, now)
    }
}

extension SQLStatement { static let ofActivities = ActivitySQL.all + InstallationTokenSQL.all }

private enum ActivitySQL {
    static let all = [
        countActive, insert, change, select, selectRepeated, list, listOfOwner, selectDue, claim, selectClaimed, publish,
        postpone,
        endOld, selectEnded, delete,
    ]

    static func activity(_ row: SQLRow) throws -> LiveActivity {
        let draft = ActivityDraft(
            owner: UserID(try row.integer(1)), ownerName: try row.parsed(2) { UserName($0) }, attributesType: try row.text(3),
            attributes: try row.parsed(4) { JSONValue(storedText: $0) }, startsByPush: try row.integer(5) == 1,
            audience: try row.parsed(6) { try? TagExpression(parsing: $0) },
            content: try row.parsed(7) { ActivityContent(storedText: $0) })
        return LiveActivity(
            id: try row.integer(0), draft: draft, phase: try row.parsed(8) { LiveActivity.Phase(rawValue: $0) },
            revision: try row.integer(9), published: try row.integer(10), stamp: try row.integer(11),
            startSend: try row.optionalText(12).flatMap { NotificationID($0) },
            updateSend: try row.optionalText(13).flatMap { NotificationID($0) }, fault: try row.optionalText(14),
            createdAt: try row.moment(15), endedAt: try row.optionalMoment(16))
    }

    static let columnCount = 17
    private static let columns = """
        activity_id, owner_id, owner_name, attributes_type, attributes, starts_by_push, audience, content, phase, revision, published,
        stamp, start_send, update_send, fault, created_at, ended_at
        """
    static let countActive = SQLStatement(
        "SELECT COUNT(*) FROM activities WHERE app_id = $1 AND owner_id = $2 AND phase = 'active'")
    static let insert = SQLStatement(
        """
        INSERT INTO activities (app_id, activity_id, owner_id, owner_name, attributes_type, attributes, starts_by_push, audience, content,
            phase, revision, published, stamp, created_at, work_at, repeat_key, repeat_digest)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'active', 1, 0, 0, $10, $10, $11, $12)
        """)
    static let change = SQLStatement(
        """
        UPDATE activities SET revision = revision + 1, content = $4, phase = $5, ended_at = $6,
            work_at = CASE WHEN work_at < $7 THEN work_at ELSE $7 END
        WHERE app_id = $1 AND activity_id = $2 AND revision = $3 AND phase = 'active'
        """)
    static let select = SQLStatement(composed: "SELECT \(columns) FROM activities WHERE app_id = $1 AND activity_id = $2")
    static let selectRepeated = SQLStatement(
        composed: "SELECT \(columns), repeat_digest FROM activities WHERE app_id = $1 AND owner_id = $2 AND repeat_key = $3")
    static let list = SQLStatement(
        composed: "SELECT \(columns) FROM activities WHERE app_id = $1 AND activity_id < $2 ORDER BY activity_id DESC LIMIT $3")
    static let listOfOwner = SQLStatement(
        composed: """
            SELECT \(columns) FROM activities WHERE app_id = $1 AND owner_id = $4 AND activity_id < $2
            ORDER BY activity_id DESC LIMIT $3
            """)
    static let selectDue = SQLStatement(
        composed: """
            SELECT \(columns) FROM activities
            WHERE app_id = $1 AND work_at <= $2 AND (claimed_until IS NULL OR claimed_until <= $2)
            ORDER BY work_at, activity_id LIMIT $3
            """)
    static let claim = SQLStatement(
        "UPDATE activities SET claimed_until = $3, stamp = $4 WHERE app_id = $1 AND activity_id = $2")
    static let selectClaimed = SQLStatement(
        composed: "SELECT \(columns) FROM activities WHERE app_id = $1 AND activity_id = $2 AND claimed_until = $3")
    static let publish = SQLStatement(
        """
        UPDATE activities SET published = $3, start_send = $4, update_send = $5, content = $6, work_at = $7, claimed_until = NULL,
            fault = NULL
        WHERE app_id = $1 AND activity_id = $2
        """)
    static let postpone = SQLStatement(
        """
        UPDATE activities SET work_at = $4, claimed_until = NULL, fault = $5
        WHERE app_id = $1 AND activity_id = $2 AND claimed_until = $3
        """)
    static let endOld = SQLStatement(
        """
        UPDATE activities SET phase = 'ended', ended_at = $3, work_at = NULL WHERE app_id = $1 AND activity_id IN (
            SELECT activity_id FROM activities WHERE app_id = $1 AND phase = 'active' AND created_at < $2
            ORDER BY created_at, activity_id LIMIT $4)
        """)
    static let selectEnded = SQLStatement(
        "SELECT activity_id FROM activities WHERE app_id = $1 AND ended_at < $2 ORDER BY ended_at, activity_id LIMIT $3")
    static let delete = SQLStatement("DELETE FROM activities WHERE app_id = $1 AND activity_id = $2")
}

private enum InstallationTokenSQL {
    static let all = [
        select, put, delete, deleteAll, deleteOfActivity, setCatchUp, selectCatchUps, endCatchUp, countFollowers,
    ]

    static let select = SQLStatement(
        """
        SELECT kind, handle, reported_at, revision, user_id FROM installation_tokens WHERE app_id = $1 AND record_id = $2
        ORDER BY kind
        """)
    static let put = SQLStatement(
        """
        INSERT INTO installation_tokens
            (app_id, token_key, record_id, kind, user_id, handle, state, revision, activity_id, reported_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (app_id, token_key) DO UPDATE SET
            reported_at = CASE WHEN installation_tokens.user_id <> excluded.user_id
                OR installation_tokens.handle IS NULL AND excluded.handle IS NOT NULL
                OR installation_tokens.handle <> excluded.handle THEN excluded.reported_at ELSE installation_tokens.reported_at END,
            handle = CASE WHEN installation_tokens.user_id = excluded.user_id
                THEN COALESCE(excluded.handle, installation_tokens.handle) ELSE excluded.handle END,
            user_id = excluded.user_id, state = excluded.state,
            revision = COALESCE(excluded.revision, installation_tokens.revision)
        """)
    static let delete = SQLStatement("DELETE FROM installation_tokens WHERE app_id = $1 AND record_id = $2 AND kind = $3")
    static let deleteAll = SQLStatement("DELETE FROM installation_tokens WHERE app_id = $1 AND record_id = $2")
    static let deleteOfActivity = SQLStatement("DELETE FROM installation_tokens WHERE app_id = $1 AND activity_id = $2")
    static let setCatchUp = SQLStatement(
        """
        UPDATE installation_tokens SET catch_up_at = $4, catch_up_mark = $5 WHERE app_id = $1 AND record_id = $2 AND kind = $3
        """)
    static let selectCatchUps = SQLStatement(
        """
        SELECT record_id, kind, activity_id, catch_up_mark FROM installation_tokens WHERE app_id = $1 AND catch_up_at <= $2
        ORDER BY catch_up_at, token_key LIMIT $3
        """)
    static let endCatchUp = SQLStatement(
        """
        UPDATE installation_tokens SET catch_up_at = NULL, catch_up_mark = NULL
        WHERE app_id = $1 AND record_id = $2 AND kind = $3 AND catch_up_mark = $4
        """)
    static let countFollowers = SQLStatement(
        """
        SELECT state, COUNT(*) FROM installation_tokens WHERE app_id = $1 AND activity_id = $2 GROUP BY state
        """)
}
