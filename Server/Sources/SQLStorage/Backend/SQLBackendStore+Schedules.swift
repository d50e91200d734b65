import AppBackend
import AuditTrail
import RichPushModel
import ServiceErrors
import TagExpressions

/// Sends that are due later.
extension SQLBackendStore {
    public func addSchedule(
        _ draft: ScheduleDraft, key: IdempotencyKey?, limit: Int, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Schedule {
        let request = try draft.request.storedText
        return try await writing { transaction in
            try transaction.requireUser(draft.owner)
            if let key, let earlier = try transaction.schedule(repeating: key, of: draft.owner) { return earlier }
            // The counter's row orders requests at the same moment.
            let id = try transaction.next(.schedule)
            let waiting = try transaction.row(ScheduleSQL.countWaiting, draft.owner)?.integer(0) ?? 0
            guard waiting < limit else {
                throw ServiceError(
                    .quotaExceeded, "\(limit) schedules of yours wait already; cancel one, or wait until one is due")
            }
            try transaction.claim(draft.contents, of: draft.owner, for: .schedule(id), at: now)
            try transaction.run(
                ScheduleSQL.insert, id, draft.owner, draft.ownerName.text, request, draft.audience.description,
                draft.next?.number ?? 0, draft.next?.dueAt, key?.key, key?.digest, now, draft.state.rawValue,
                draft.attemptAt)
            try transaction.audit(entry, object: "\(id)")
            return Schedule(
                id: id, revision: 1, draft: draft, state: draft.state, sent: 0, missed: 0, lastSend: nil, fault: nil,
                createdAt: now)
        }
    }

    public func replaceSchedule(
        _ id: Int64, revision: Int64, with draft: ScheduleDraft, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Schedule? {
        let request = try draft.request.storedText
        return try await writing { transaction in
            guard let old = try transaction.schedule(id), old.isOpen, old.revision == revision else { return nil }
            try transaction.claim(draft.contents, of: draft.owner, for: .schedule(id), at: now)
            try transaction.run(
                ScheduleSQL.replace, id, request, draft.audience.description, draft.next?.number ?? 0, draft.next?.dueAt, now,
                draft.state.rawValue, draft.attemptAt)
            try transaction.audit(entry)
            return try transaction.schedule(id)
        }
    }

    public func approveSchedule(
        _ id: Int64, revision: Int64, as request: ScheduleRequest, next: ScheduleOccurrence, by name: UserName, at now: Timestamp,
        audit entry: AuditEntry?
    ) async throws -> Schedule? {
        let request = try request.storedText
        return try await writing { transaction in
            let changed = try transaction.run(ScheduleSQL.approve, id, revision, request, next.number, next.dueAt, name.text)
            guard changed > 0 else { return nil }
            try transaction.audit(entry)
            return try transaction.schedule(id)
        }
    }

    public func advance(_ step: ScheduleStep, at now: Timestamp) async throws -> Bool {
        try await writing { try $0.advance(step, sent: nil, at: now) }
    }

    public func postponeSchedule(_ id: Int64, revision: Int64, until moment: Timestamp, fault: String) async throws {
        _ = try await writing { try $0.run(ScheduleSQL.postpone, id, revision, moment, fault) }
    }

    public func endSchedule(
        _ id: Int64, revision: Int64?, as end: Schedule.State, fault: String?, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool {
        try await writing { transaction in
            guard let old = try transaction.schedule(id), old.isOpen,
                revision.map({ $0 == old.revision }) ?? true
            else { return false }
            try transaction.run(ScheduleSQL.end, id, end.rawValue, fault, now)
            try transaction.release(.schedule(id), at: now)
            try transaction.audit(entry)
            return true
        }
    }

    public func schedule(_ id: Int64) async throws -> Schedule? { try await reading { try $0.schedule(id) } }

    public func schedule(repeating key: IdempotencyKey, of user: UserID) async throws -> Schedule? {
        try await reading { try $0.schedule(repeating: key, of: user) }
    }

    public func schedules(_ query: ScheduleQuery) async throws -> [Schedule] {
        let (below, state) = (query.below ?? .max, query.state?.rawValue)
        return try await reading { transaction in
            let rows =
                if let owner = query.owner {
                    try transaction.rows(ScheduleSQL.listOfOwner, below, query.limit, state, owner)
                } else if query.state == .proposed {
                    try transaction.rows(ScheduleSQL.listOfProposals, below, query.limit)
                } else {
                    try transaction.rows(ScheduleSQL.list, below, query.limit, state)
                }
            return try rows.map(ScheduleSQL.schedule)
        }
    }

    public func dueSchedules(at now: Timestamp, limit: Int) async throws -> [Schedule] {
        try await reading { try $0.rows(ScheduleSQL.selectDue, now, limit).map(ScheduleSQL.schedule) }
    }

    public func removeSchedules(endedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { try $0.run(ScheduleSQL.deleteEnded, moment, limit) }
    }
}

extension BackendTransaction {
    /// Takes a schedule further, with the send that came of it. Whether it waited under the revision of the step.
    func advance(_ step: ScheduleStep, sent: RichID?, at now: Timestamp) throws -> Bool {
        let changed = try run(
            ScheduleSQL.advance, step.id, step.revision, step.missed, step.next?.number ?? 0, step.next?.dueAt, sent, now)
        guard changed > 0 else { return false }
        if step.next == nil { try release(.schedule(step.id), at: now) }
        return true
    }

    /// Removes a schedule. Its contents expire now unless something else uses them.
    func removeSchedule(_ id: Int64, at now: Timestamp) throws {
        try run(ScheduleSQL.delete, id)
        try release(.schedule(id), at: now)
    }

    /// Removes the schedules of a user that wait, whose contents go with the user. There are not many: a user has a quota.
    func removeWaitingSchedules(of owner: UserID) throws { try run(ScheduleSQL.deleteWaiting, owner) }

    /// Removes at most `limit` schedules of a user; returns how many.
    func removeSchedules(of owner: UserID, limit: Int) throws -> Int { try run(ScheduleSQL.deleteOfOwner, owner, limit) }

    fileprivate func schedule(_ id: Int64) throws -> Schedule? {
        try row(ScheduleSQL.select, id).map(ScheduleSQL.schedule)
    }

    fileprivate func schedule(repeating key: IdempotencyKey, of user: UserID) throws -> Schedule? {
        guard let row = try row(ScheduleSQL.selectRepeated, user, key.key) else { return nil }
        guard try row.bytes(ScheduleSQL.columnCount) == key.digest else {
            throw ServiceError(.idempotencyMismatch, "this Idempotency-Key was used for another request")
        }
        return try ScheduleSQL.schedule(row)
    }
}

extension ScheduleDraft {
    fileprivate var contents: [(id: String, field: String)] { request.notification.contents }

    /// When it is tried first. A proposal is not tried.
    fileprivate var attemptAt: Timestamp? { state == .proposed ? nil : next?.dueAt }
}

extension Schedule {
    /// Whether something may come of it yet.
    fileprivate var isOpen: Bool { state == .waiting || state == .proposed }
}

extension SQLStatement { static let ofSchedules = ScheduleSQL.all }

private enum ScheduleSQL {
    static let all = [
        countWaiting, insert, replace, approve, advance, postpone, end, select, selectRepeated, list, listOfOwner,
        listOfProposals,
        selectDue, delete,
        deleteEnded, deleteWaiting, deleteOfOwner,
    ]

    static func schedule(_ row: SQLRow) throws -> Schedule {
        let dueAt = try row.optionalMoment(7)
        let number = Int(try row.integer(6))
        // One that is damaged, or of a later version, must not keep the others from being read.
        let request = ScheduleRequest(storedText: try row.text(4))
        let audience = try? TagExpression(parsing: try row.text(5))
        let ownerName = try row.parsed(3) { UserName($0) }
        var schedule = Schedule(
            id: try row.integer(0), revision: try row.integer(1),
            draft: ScheduleDraft(
                owner: UserID(try row.integer(2)), ownerName: ownerName,
                request: request ?? ScheduleRequest(SendRequest(message: "")),
                audience: audience ?? .and(.tag(.user(ownerName)), .not(.tag(.user(ownerName)))),
                next: dueAt.map { ScheduleOccurrence(number: number, dueAt: $0) }),
            state: try row.parsed(8) { Schedule.State(rawValue: $0) }, sent: Int(try row.integer(9)),
            missed: Int(try row.integer(10)), lastSend: try row.optionalInteger(11) == nil ? nil : try row.richID(11),
            fault: try row.optionalText(12), createdAt: try row.moment(13),
            askedAt: try row.moment(14))
        schedule.approvedBy = try row.optionalText(15)
        schedule.isReadable = request != nil && audience != nil
        return schedule
    }

    static let columnCount = 16
    private static let columns = """
        schedule_id, revision, owner_id, owner_name, request, audience, occurrence, due_at, state, sent, missed, last_rich_id, fault,
        created_at, asked_at, approved_by
        """
    /// As the index has it.
    private static let isOpen = "state IN ('waiting', 'proposed')"
    static let countWaiting = SQLStatement(
        composed: "SELECT COUNT(*) FROM schedules WHERE app_id = $1 AND owner_id = $2 AND \(isOpen)")
    static let insert = SQLStatement(
        """
        INSERT INTO schedules
            (app_id, schedule_id, revision, owner_id, owner_name, request, audience, state, occurrence, due_at, attempt_at, sent, missed,
             repeat_key, repeat_digest, created_at, asked_at)
        VALUES ($1, $2, 1, $3, $4, $5, $6, $12, $7, $8, $13, 0, 0, $9, $10, $11, $11)
        """)
    static let replace = SQLStatement(
        """
        UPDATE schedules SET revision = revision + 1, request = $3, audience = $4, occurrence = $5, due_at = $6,
            attempt_at = $9, asked_at = $7, fault = NULL, state = $8, approved_by = NULL
        WHERE app_id = $1 AND schedule_id = $2
        """)
    static let approve = SQLStatement(
        """
        UPDATE schedules SET revision = revision + 1, state = 'waiting', request = $4, occurrence = $5, due_at = $6, attempt_at = $6,
            approved_by = $7
        WHERE app_id = $1 AND schedule_id = $2 AND revision = $3 AND state = 'proposed'
        """)
    static let advance = SQLStatement(
        """
        UPDATE schedules SET revision = revision + 1, missed = missed + $4, occurrence = $5, due_at = $6, attempt_at = $6,
            sent = sent + CASE WHEN CAST($7 AS BIGINT) IS NULL THEN 0 ELSE 1 END,
            last_rich_id = COALESCE(CAST($7 AS BIGINT), last_rich_id),
            fault = CASE WHEN CAST($7 AS BIGINT) IS NULL THEN fault END,
            state = CASE WHEN CAST($6 AS BIGINT) IS NULL THEN 'ended' ELSE state END,
            ended_at = CASE WHEN CAST($6 AS BIGINT) IS NULL THEN CAST($8 AS BIGINT) END
        WHERE app_id = $1 AND schedule_id = $2 AND revision = $3 AND state = 'waiting'
        """)
    static let postpone = SQLStatement(
        """
        UPDATE schedules SET attempt_at = $4, fault = $5
        WHERE app_id = $1 AND schedule_id = $2 AND revision = $3 AND state = 'waiting'
        """)
    static let end = SQLStatement(
        """
        UPDATE schedules SET revision = revision + 1, state = $3, fault = $4, ended_at = $5, due_at = NULL, attempt_at = NULL
        WHERE app_id = $1 AND schedule_id = $2
        """)
    static let select = SQLStatement(composed: "SELECT \(columns) FROM schedules WHERE app_id = $1 AND schedule_id = $2")
    static let selectRepeated = SQLStatement(
        composed: "SELECT \(columns), repeat_digest FROM schedules WHERE app_id = $1 AND owner_id = $2 AND repeat_key = $3")
    static let list = SQLStatement(
        composed: """
            SELECT \(columns) FROM schedules
            WHERE app_id = $1 AND schedule_id < $2 AND (CAST($4 AS TEXT) IS NULL OR state = $4) ORDER BY schedule_id DESC LIMIT $3
            """)
    static let listOfOwner = SQLStatement(
        composed: """
            SELECT \(columns) FROM schedules
            WHERE app_id = $1 AND owner_id = $5 AND schedule_id < $2 AND (CAST($4 AS TEXT) IS NULL OR state = $4)
            ORDER BY schedule_id DESC LIMIT $3
            """)
    static let listOfProposals = SQLStatement(
        composed: """
            SELECT \(columns) FROM schedules WHERE app_id = $1 AND schedule_id < $2 AND state = 'proposed'
            ORDER BY schedule_id DESC LIMIT $3
            """)
    static let selectDue = SQLStatement(
        composed: """
            SELECT \(columns) FROM schedules WHERE app_id = $1 AND attempt_at <= $2 ORDER BY attempt_at, schedule_id LIMIT $3
            """)
    static let delete = SQLStatement("DELETE FROM schedules WHERE app_id = $1 AND schedule_id = $2")
    static let deleteEnded = SQLStatement(
        """
        DELETE FROM schedules WHERE app_id = $1 AND schedule_id IN (
            SELECT schedule_id FROM schedules WHERE app_id = $1 AND ended_at < $2 ORDER BY ended_at, schedule_id LIMIT $3)
        """)
    static let deleteWaiting = SQLStatement(
        composed: "DELETE FROM schedules WHERE app_id = $1 AND owner_id = $2 AND \(isOpen)")
    static let deleteOfOwner = SQLStatement(
        """
        DELETE FROM schedules WHERE app_id = $1 AND schedule_id IN (
            SELECT schedule_id FROM schedules WHERE app_id = $1 AND owner_id = $2 LIMIT $3)
        """)
}
