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
            if let channel = draft.channel { try transaction.requireFree(channel, at: now) }
            try transaction.run(
                ActivitySQL.insert, id, draft.owner, draft.ownerName.text, draft.attributesType, attributes,
                draft.startsByPush ? 1 : 0, draft.audience.description, content, now, key?.key, key?.digest, draft.channel)
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
            let changed = try transaction.activity(id)
            if let ended, let channel = changed?.draft.channel { try transaction.hasten(channel, after: ended) }
            return changed
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

    public func claimActivities(
        onChannels: Bool, at now: Timestamp, until: Timestamp, limit: Int
    ) async throws -> [ActivityClaim] {
        let select = onChannels ? ActivitySQL.selectDueOnChannels : ActivitySQL.selectDue
        // A round that finds nothing, as nearly all do, writes nothing.
        guard try await reading({ try $0.row(select, now, 1) }) != nil else { return [] }
        return try await writing { transaction in
            try transaction.rows(select, now, limit).map { row in
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
            // A stamp of a clock that was ahead delays nothing.
            let due = isNewest ? nil : min(Timestamp(seconds: activity.stamp + 1), now + .seconds(1))
            try transaction.run(
                ActivitySQL.publish, activity.id, activity.revision, startSend?.text, updateSend?.text,
                try current.draft.content.storedText, due, activity.budget.fullAt, activity.budget.demoted)
        }
    }

    public func postponeActivity(_ claim: ActivityClaim, until moment: Timestamp?, fault: String?) async throws {
        _ = try await writing {
            try $0.run(ActivitySQL.postpone, claim.activity.id, claim.until, moment, fault, claim.activity.revision)
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
            let isRefused = try report.permission == .off || report.permission == nil && Self.isRefused(in: known, by: user)
            var stale = Dictionary(uniqueKeysWithValues: try known.map { (try $0.text(0), try $0.integer(4)) })
                .filter {
                    $0.value != user.number || $0.key.hasPrefix("activity:")
                        || report.replacesControls && $0.key.hasPrefix("control:")
                        || isRefused && $0.key.hasPrefix("start:")
                }
            if let permission = report.permission {
                let kind = InstallationTokenSQL.permission
                try transaction.put(kind, of: record, user, nil, state: permission.rawValue, revision: nil, at: now)
                stale[kind] = nil
            }
            for token in report.tokens where !(isRefused && token.kind.stored.hasPrefix("start:")) {
                try transaction.put(token, of: record, user, system: report.systemVersion, known)
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
                // Its pushes go over the channel alone.
                let reported = activity.draft.channel == nil ? entry.handle : nil
                let handle = try reported?.text ?? row?.optionalText(1)
                if activity.isOver(at: now, hasToken: handle != nil) {
                    over.append(entry.id)
                    continue
                }
                let isStarting = handle == nil && activity.draft.channel == nil
                try transaction.put(
                    kind.stored, of: record, user, reported, state: (isStarting ? .starting : state).rawValue,
                    revision: entry.revision, activity: entry.id, at: now)
                stale[kind.stored] = nil
                let isNew = try row?.optionalText(1) != handle
                let isCurrent = activity.phase == .active && [activity.revision, nil].contains(entry.revision)
                // Until the hub has a new token, a change may leave for the former one, so whether it is current shows at the claim.
                if handle != nil, isNew || !isCurrent {
                    try transaction.run(InstallationTokenSQL.setCatchUp, record, kind.stored, now, report.mark)
                }
            }
            for name in stale.keys { try transaction.run(InstallationTokenSQL.delete, record, name) }
            try transaction.makeRoom(on: record, for: Set(report.tokens.map(\.kind.stored)))
            return over
        }
    }

    /// Whether the user had switched Live Activities off when the device last said so.
    private static func isRefused(in known: [SQLRow], by user: UserID) throws -> Bool {
        try known.contains { row in
            try row.text(0) == InstallationTokenSQL.permission && row.integer(4) == user.number
                && row.text(5) == ActivityPermission.off.rawValue
        }
    }

    public func facts(
        ofActivity id: Int64, type: String, on record: RecordID, user: UserID
    ) async throws -> DeviceActivityFacts {
        let activity = InstallationToken.Kind.activity(id: "\(id)").stored
        let start = InstallationToken.Kind.activityStart(type: type).stored
        return try await reading { transaction in
            var facts = DeviceActivityFacts()
            for row in try transaction.rows(InstallationTokenSQL.select, record) where try row.integer(4) == user.number {
                facts.hasReported = true
                switch try row.text(0) {
                case activity: (facts.state, facts.revision) = (.init(rawValue: try row.text(5)), try row.optionalInteger(3))
                case start:
                    let system = try row.text(5)
                    (facts.startTokenAt, facts.startTokenSystem) = (try row.moment(2), system.isEmpty ? nil : system)
                case InstallationTokenSQL.permission: facts.permission = .init(rawValue: try row.text(5))
                case let kind where kind.hasPrefix("activity:"): facts.others += 1
                default: break
                }
            }
            return facts
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
            try transaction.rows(InstallationTokenSQL.selectCatchUps, now, limit).compactMap { row in
                let catchUp = ActivityCatchUp(
                    activity: try row.integer(2), record: try row.parsed(0) { RecordID($0) }, mark: try row.integer(3))
                let kind = try row.text(1)
                let activity = try transaction.activity(catchUp.activity)
                if let activity, activity.phase == .active, try row.optionalInteger(4) == activity.revision {
                    try transaction.run(InstallationTokenSQL.endCatchUp, catchUp.record, kind, catchUp.mark)
                    return nil
                }
                try transaction.run(InstallationTokenSQL.setCatchUp, catchUp.record, kind, until, catchUp.mark)
                return catchUp
            }
        }
    }

    public func endCatchUps(_ catchUps: [ActivityCatchUp]) async throws {
        try await writing { transaction in
            for catchUp in catchUps {
                let kind = InstallationToken.Kind.activity(id: "\(catchUp.activity)").stored
                try transaction.run(InstallationTokenSQL.endCatchUp, catchUp.record, kind, catchUp.mark)
            }
        }
    }
}

extension BackendTransaction {
    /// Removes an activity with what devices reported of it.
    func removeActivity(_ id: Int64) throws {
        if let channel = try activity(id)?.draft.channel { try hasten(channel) }
        try run(InstallationTokenSQL.deleteOfActivity, id)
        try run(ActivitySQL.delete, id)
    }

    /// Removes the oldest start tokens that a report does not name where there are too many tokens: their types may be of an earlier
    /// version of the app.
    fileprivate func makeRoom(on record: RecordID, for reported: Set<String>) throws {
        let rows = try rows(InstallationTokenSQL.select, record)
        let surplus = rows.count - InstallationToken.limit
        guard surplus > 0 else { return }
        let olders = try rows.map { (kind: try $0.text(0), reportedAt: try $0.moment(2)) }
            .filter { $0.kind.hasPrefix("start:") && !reported.contains($0.kind) }
            .sorted { ($0.reportedAt, $0.kind) < ($1.reportedAt, $1.kind) }
        guard olders.count >= surplus else {
            throw ServiceError(.quotaExceeded, "an installation has at most \(InstallationToken.limit) tokens beside its own")
        }
        for older in olders.prefix(surplus) { try run(InstallationTokenSQL.delete, record, older.kind) }
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

    /// Stores a token of no activity, with the version of the system under which the device reported this value first.
    fileprivate func put(
        _ token: InstallationToken, of record: RecordID, _ user: UserID, system: String?, _ known: [SQLRow]
    ) throws {
        let kind = token.kind.stored
        let row = try known.first { try $0.text(0) == kind && $0.integer(4) == user.number }
        let isKnown = try row?.optionalText(1) == token.handle.text
        let state = try isKnown ? row?.text(5) : system
        try put(kind, of: record, user, token.handle, state: state ?? "", revision: nil, at: token.reportedAt)
    }

    /// Stores what a device reported of a token. The moment is that at which this value was reported first.
    fileprivate func put(
        _ kind: String, of record: RecordID, _ user: UserID, _ handle: DeviceToken?, state: String,
        revision: Int64?, activity: Int64? = nil, at now: Timestamp
    ) throws {
        try run(
            InstallationTokenSQL.put, "\(record.text) \(kind)", record, kind, user, handle?.text, state, revision, activity, now)
    }
}

extension SQLStatement { static let ofActivities = ActivitySQL.all + InstallationTokenSQL.all }

private enum ActivitySQL {
    static let all = [
        countActive, insert, change, select, selectRepeated, list, listOfOwner, selectDue, selectDueOnChannels, claim,
        selectClaimed,
        publish, postpone, endOld, selectEnded, delete,
    ]

    static func activity(_ row: SQLRow) throws -> LiveActivity {
        let draft = ActivityDraft(
            owner: UserID(try row.integer(1)), ownerName: try row.parsed(2) { UserName($0) }, attributesType: try row.text(3),
            attributes: try row.parsed(4) { JSONValue(storedText: $0) }, startsByPush: try row.integer(5) == 1,
            audience: try row.parsed(6) { try? TagExpression(parsing: $0) }, channel: try row.optionalInteger(17),
            content: try row.parsed(7) { ActivityContent(storedText: $0) })
        return LiveActivity(
            id: try row.integer(0), draft: draft, phase: try row.parsed(8) { LiveActivity.Phase(rawValue: $0) },
            revision: try row.integer(9), published: try row.integer(10), stamp: try row.integer(11),
            startSend: try row.optionalText(12).flatMap { NotificationID($0) },
            updateSend: try row.optionalText(13).flatMap { NotificationID($0) }, fault: try row.optionalText(14),
            budget: UrgentBudget(fullAt: try row.moment(18), demoted: Int(try row.integer(19))),
            createdAt: try row.moment(15), endedAt: try row.optionalMoment(16))
    }

    static let columnCount = 20
    private static let columns = """
        activity_id, owner_id, owner_name, attributes_type, attributes, starts_by_push, audience, content, phase, revision, published,
        stamp, start_send, update_send, fault, created_at, ended_at, channel_id, urgent_full_at,
        demoted
        """
    static let countActive = SQLStatement(
        "SELECT COUNT(*) FROM activities WHERE app_id = $1 AND owner_id = $2 AND phase = 'active'")
    static let insert = SQLStatement(
        """
        INSERT INTO activities (app_id, activity_id, owner_id, owner_name, attributes_type, attributes, starts_by_push, audience, content,
            phase, revision, published, stamp, created_at, work_at, repeat_key, repeat_digest, channel_id, urgent_full_at, demoted)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'active', 1, 0, 0, $10, $10, $11, $12, $13, 0, 0)
        """)
    static let change = SQLStatement(
        """
        UPDATE activities SET revision = revision + 1, content = $4, phase = $5, ended_at = $6,
            work_at = CASE WHEN work_at < $7 THEN work_at ELSE $7 END, fault = NULL
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
    static let selectDue = due("channel_id IS NULL")
    static let selectDueOnChannels = due("channel_id IS NOT NULL")

    private static func due(_ condition: String) -> SQLStatement {
        SQLStatement(
            composed: """
                SELECT \(columns) FROM activities
                WHERE app_id = $1 AND work_at <= $2 AND (claimed_until IS NULL OR claimed_until <= $2) AND \(condition)
                ORDER BY work_at, activity_id LIMIT $3
                """)
    }

    static let claim = SQLStatement(
        "UPDATE activities SET claimed_until = $3, stamp = $4 WHERE app_id = $1 AND activity_id = $2")
    static let selectClaimed = SQLStatement(
        composed: "SELECT \(columns) FROM activities WHERE app_id = $1 AND activity_id = $2 AND claimed_until = $3")
    static let publish = SQLStatement(
        """
        UPDATE activities SET published = $3, start_send = $4, update_send = $5, content = $6, work_at = $7, claimed_until = NULL,
            urgent_full_at = $8, demoted = $9, fault = NULL
        WHERE app_id = $1 AND activity_id = $2
        """)
    static let postpone = SQLStatement(
        """
        UPDATE activities SET work_at = CASE WHEN revision = $6 THEN $4 ELSE work_at END, claimed_until = NULL,
            fault = CASE WHEN revision = $6 THEN $5 ELSE fault END
        WHERE app_id = $1 AND activity_id = $2 AND claimed_until = $3
        """)
    static let endOld = SQLStatement(
        """
        UPDATE activities SET phase = 'ended', ended_at = $3, work_at = $3
        WHERE app_id = $1 AND activity_id IN (
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

    /// The kind of the row that has no token, and as its state the `ActivityPermission`.
    static let permission = "permission"

    static let select = SQLStatement(
        """
        SELECT kind, handle, reported_at, revision, user_id, state FROM installation_tokens WHERE app_id = $1 AND record_id = $2
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
            revision = CASE WHEN excluded.revision IS NULL AND installation_tokens.user_id = excluded.user_id
                    AND (excluded.handle IS NULL OR excluded.handle = installation_tokens.handle)
                THEN installation_tokens.revision ELSE excluded.revision END
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
        SELECT t.record_id, t.kind, t.activity_id, t.catch_up_mark, t.revision FROM installation_tokens t
        WHERE t.app_id = $1 AND t.catch_up_at <= $2 AND NOT EXISTS (
            SELECT 1 FROM device_changes c WHERE c.app_id = t.app_id AND c.record_id = t.record_id)
        ORDER BY t.catch_up_at, t.token_key LIMIT $3
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
