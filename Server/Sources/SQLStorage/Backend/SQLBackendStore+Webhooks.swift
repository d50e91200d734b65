import AppBackend
import AuditTrail
import RichPushModel
import ServiceErrors

/// Webhooks, and what waits for them.
extension SQLBackendStore {
    public func addWebhook(
        _ draft: WebhookDraft, state: Webhook.State, salt: [UInt8], limit: Int, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Webhook {
        try await writing { transaction in
            // The counter's row orders requests at the same moment.
            let id = try transaction.next(.webhook)
            guard try transaction.rows(WebhookSQL.list).count < limit else {
                throw ServiceError(.quotaExceeded, "there are \(limit) webhooks already; remove one first")
            }
            try transaction.run(
                WebhookSQL.insert, id, draft.url, draft.storedEvents, draft.description, salt, now, state.rawValue)
            try transaction.run(WebhookSQL.insertLease, id)
            try transaction.audit(entry, object: "\(id)")
            return Webhook(id: id, draft: draft, state: state, fault: nil, salt: salt, formerSalt: nil, createdAt: now)
        }
    }

    public func changeWebhook(
        _ id: Int64, to draft: WebhookDraft, state: Webhook.State, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Webhook? {
        try await writing { transaction in
            guard let old = try transaction.webhook(id) else { return nil }
            // Why it is disabled stays known until it is enabled.
            let fault = state == .enabled ? nil : old.fault
            try transaction.run(WebhookSQL.replace, id, draft.url, draft.storedEvents, draft.description, state.rawValue, fault)
            if state == .enabled { try transaction.run(WebhookSQL.setHealth, id, Timestamp?.none, 0, 0) }
            try transaction.audit(entry)
            return try transaction.webhook(id)
        }
    }

    public func disableWebhook(_ id: Int64, fault: String, audit entry: AuditEntry?) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.run(WebhookSQL.disable, id, fault) > 0 else { return false }
            try transaction.audit(entry)
            return true
        }
    }

    public func rollWebhook(
        _ id: Int64, salt: [UInt8], formerUntil moment: Timestamp, audit entry: AuditEntry?
    ) async throws -> Webhook? {
        try await writing { transaction in
            guard try transaction.run(WebhookSQL.roll, id, salt, moment) > 0 else { return nil }
            try transaction.audit(entry)
            return try transaction.webhook(id)
        }
    }

    public func removeWebhook(_ id: Int64, audit entry: AuditEntry?) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.run(WebhookSQL.markRemoved, id) > 0 else { return false }
            try transaction.run(WebhookSQL.deleteLease, id)
            try transaction.audit(entry)
            return true
        }
    }

    public func webhook(_ id: Int64) async throws -> Webhook? { try await reading { try $0.webhook(id) } }

    public func webhooks() async throws -> [Webhook] {
        try await reading { try $0.rows(WebhookSQL.list).map(WebhookSQL.webhook) }
    }

    public func add(_ event: WebhookEvent, to webhook: Int64) async throws {
        try await writing { try $0.tell(event, only: webhook) }
    }

    public func isWanted(_ kind: WebhookEvent.Kind) async throws -> Bool {
        try await reading { try $0.row(WebhookSQL.selectWanting, "% \(kind.rawValue) %") != nil }
    }

    public func announce(_ events: [WebhookEvent]) async throws {
        try await writing { transaction in
            for event in events { try transaction.tell(event, as: WebhookSQL.tellOnce) }
        }
    }

    public func leaseWebhooks(
        to owner: String, until end: Timestamp, renewal: Duration, at now: Timestamp
    ) async throws -> [WebhookLease] {
        let rows = try await reading { try $0.rows(WebhookSQL.selectLeases) }
        // Most of the time nothing has to be written.
        let wanted = try rows.filter { row in
            let until = try row.moment(11)
            return try row.optionalText(10) == owner ? until - now <= renewal : until <= now
        }
        var leased = Set(try rows.filter { try $0.optionalText(10) == owner && $0.moment(11) > now }.map { try $0.integer(0) })
        if !wanted.isEmpty {
            let ids = try wanted.map { try $0.integer(0) }
            leased.formUnion(
                try await writing { transaction in
                    try ids.filter { try transaction.run(WebhookSQL.lease, $0, owner, end, now) > 0 }
                })
        }
        return try rows.filter { leased.contains(try $0.integer(0)) }.map(WebhookSQL.lease)
    }

    public func releaseWebhooks(of owner: String) async throws {
        _ = try await writing { try $0.run(WebhookSQL.release, owner) }
    }

    public func dueDeliveries(of webhook: Int64, at now: Timestamp, limit: Int) async throws -> [WebhookDelivery] {
        try await reading { try $0.rows(WebhookSQL.selectDue, webhook, now, limit).map(WebhookSQL.delivery) }
    }

    public func settle(
        _ attempts: [WebhookAttempt], of webhook: Int64, owner: String, health: WebhookHealth?
    ) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.row(WebhookSQL.selectOwner, webhook)?.optionalText(0) == owner else { return false }
            for attempt in attempts { try transaction.settle(attempt, of: webhook) }
            if let health {
                try transaction.run(WebhookSQL.setHealth, webhook, health.pausedUntil, health.pauses, health.failures)
            }
            return true
        }
    }

    public func deliveries(_ query: WebhookDeliveryQuery) async throws -> [WebhookDelivery] {
        try await reading { transaction in
            // The index has them by state, so that few of a state are found among many of another.
            let states = query.state.map { [$0] } ?? WebhookDelivery.State.allCases
            let found = try states.flatMap { state in
                try transaction.rows(WebhookSQL.page, query.webhook, query.below ?? .max, query.limit, state.rawValue)
                    .map(WebhookSQL.delivery)
            }
            return Array(found.sorted { $0.number > $1.number }.prefix(query.limit))
        }
    }

    public func waitingDeliveries(of webhook: Int64, limit: Int) async throws -> Int {
        Int(try await reading { try $0.row(WebhookSQL.countWaiting, webhook, limit)?.integer(0) ?? 0 })
    }

    public func replay(
        _ replay: WebhookReplay, of webhook: Int64, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> (count: Int, next: Int64?) {
        try await writing { transaction in
            let rows =
                switch replay {
                case .event(let id): try transaction.rows(WebhookSQL.selectEvent, webhook, number, limit, id)
                case .since(let moment, let state):
                    try transaction.rows(WebhookSQL.selectEnded, webhook, number, limit, moment, state.rawValue)
                }
            let numbers = try rows.map { try $0.integer(0) }
            for number in numbers { try transaction.run(WebhookSQL.queue, number, now) }
            return (numbers.count, numbers.count == limit ? numbers.last : nil)
        }
    }

    public func removeDeliveries(before moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { transaction in
            let orphans = try transaction.run(WebhookSQL.deleteOrphans, limit)
            guard orphans == 0 else { return orphans }
            try transaction.run(WebhookSQL.deleteRemoved)
            return try transaction.run(WebhookSQL.deleteOld, limit, moment)
        }
    }
}

extension BackendTransaction {
    /// Stores an event for each webhook that is enabled and wants it, or for one whatever it wants.
    func tell(_ event: WebhookEvent, only webhook: Int64? = nil) throws { try tell(event, only: webhook, as: WebhookSQL.tell) }

    fileprivate func tell(_ event: WebhookEvent, only webhook: Int64? = nil, as statement: SQLStatement) throws {
        try run(
            statement, "% \(event.kind.rawValue) %", webhook, event.id, event.kind.rawValue, event.subject,
            event.user?.lowercased(), try event.data.storedText, event.at)
    }

    /// Removes at most `limit` deliveries that name a user; returns how many.
    func removeDeliveries(naming user: UserName, limit: Int) throws -> Int {
        try run(WebhookSQL.deleteOfUser, user.folded, limit)
    }

    fileprivate func webhook(_ id: Int64) throws -> Webhook? { try row(WebhookSQL.select, id).map(WebhookSQL.webhook) }

    fileprivate func settle(_ attempt: WebhookAttempt, of webhook: Int64) throws {
        let (number, answer) = (attempt.delivery.number, attempt.answer)
        let (state, dueAt, counts): (WebhookDelivery.State, Timestamp?, Bool) =
            switch attempt.result {
            case .delivered: (.delivered, nil, true)
            case .failed: (.failed, nil, true)
            case .retry(let moment, let counts): (.waiting, moment, counts)
            }
        try run(
            WebhookSQL.settle, number, state.rawValue, dueAt, counts ? 1 : 0, answer.at, answer.status, answer.milliseconds,
            answer.text)
        // What waits behind it is not looked at before it is tried again.
        if let dueAt { try run(WebhookSQL.putOff, webhook, attempt.delivery.event.subject, dueAt) }
    }
}

extension WebhookDraft {
    /// With a blank around each, so that one is found by its text.
    fileprivate var storedEvents: String { " \(events.map(\.rawValue).joined(separator: " ")) " }
}

extension SQLStatement { static let ofWebhooks = WebhookSQL.all }

private enum WebhookSQL {
    static let all = [
        insert, insertLease, replace, disable, roll, markRemoved, deleteRemoved, deleteLease, select, list, selectLeases,
        selectOwner, lease, release,
        setHealth, tell, tellOnce, selectWanting, selectDue, settle, putOff, page, countWaiting, selectEvent, selectEnded, queue,
        deleteOld,
        deleteOrphans, deleteOfUser,
    ]

    static func webhook(_ row: SQLRow) throws -> Webhook {
        let events = try row.text(2).split(separator: " ").map { text in
            guard let kind = WebhookEvent.Kind(rawValue: String(text)) else { throw SQLFault.unexpectedColumn(2) }
            return kind
        }
        let former = try row.optionalMoment(8)
        return Webhook(
            id: try row.integer(0), draft: WebhookDraft(url: try row.text(1), events: events, description: try row.text(3)),
            state: try row.parsed(4) { Webhook.State(rawValue: $0) }, fault: try row.optionalText(5), salt: try row.bytes(6),
            formerSalt: try former.map { Webhook.FormerSalt(salt: try row.bytes(7), until: $0) }, createdAt: try row.moment(9))
    }

    static func lease(_ row: SQLRow) throws -> WebhookLease {
        WebhookLease(
            webhook: try webhook(row),
            health: WebhookHealth(
                pausedUntil: try row.optionalMoment(12), pauses: Int(try row.integer(13)), failures: Int(try row.integer(14))))
    }

    static func delivery(_ row: SQLRow) throws -> WebhookDelivery {
        let event = WebhookEvent(
            id: try row.text(1), try row.parsed(2) { WebhookEvent.Kind(rawValue: $0) }, subject: try row.text(3),
            user: try row.optionalText(4), at: try row.moment(6), data: try row.parsed(5) { WebhookData(storedText: $0) })
        let last = try row.optionalMoment(10).map { moment in
            WebhookDelivery.Answer(
                at: moment, status: try row.optionalInteger(11).map(Int.init), milliseconds: try row.integer(12),
                text: try row.optionalText(13))
        }
        return WebhookDelivery(
            number: try row.integer(0), event: event, state: try row.parsed(7) { WebhookDelivery.State(rawValue: $0) },
            dueAt: try row.optionalMoment(8), attempts: Int(try row.integer(9)), last: last)
    }

    private static let columns = "webhook_id, url, events, description, state, fault, salt, former_salt, former_until, created_at"
    static let insert = SQLStatement(
        """
        INSERT INTO webhooks (app_id, webhook_id, url, events, description, state, salt, created_at)
        VALUES ($1, $2, $3, $4, $5, $8, $6, $7)
        """)
    static let insertLease = SQLStatement(
        "INSERT INTO webhook_leases (app_id, webhook_id, leased_until, pauses, failures) VALUES ($1, $2, 0, 0, 0)")
    static let replace = SQLStatement(
        """
        UPDATE webhooks SET url = $3, events = $4, description = $5, state = $6, fault = $7
        WHERE app_id = $1 AND webhook_id = $2 AND state <> 'removed'
        """)
    static let disable = SQLStatement(
        "UPDATE webhooks SET state = 'disabled', fault = $3 WHERE app_id = $1 AND webhook_id = $2 AND state = 'enabled'")
    static let roll = SQLStatement(
        """
        UPDATE webhooks SET former_salt = salt, former_until = $4, salt = $3
        WHERE app_id = $1 AND webhook_id = $2 AND state <> 'removed'
        """)
    /// The row stays until its deliveries are gone.
    static let markRemoved = SQLStatement(
        "UPDATE webhooks SET state = 'removed' WHERE app_id = $1 AND webhook_id = $2 AND state <> 'removed'")
    static let deleteRemoved = SQLStatement("DELETE FROM webhooks WHERE app_id = $1 AND state = 'removed'")
    static let deleteLease = SQLStatement("DELETE FROM webhook_leases WHERE app_id = $1 AND webhook_id = $2")
    static let select = SQLStatement(
        composed: "SELECT \(columns) FROM webhooks WHERE app_id = $1 AND webhook_id = $2 AND state <> 'removed'")
    static let list = SQLStatement(
        composed: "SELECT \(columns) FROM webhooks WHERE app_id = $1 AND state <> 'removed' ORDER BY webhook_id")

    static let selectLeases = SQLStatement(
        composed: """
            SELECT \(columns.split(separator: " ").map { "w.\($0)" }.joined(separator: " ")), l.owner, l.leased_until, \
            l.paused_until, l.pauses, l.failures
            FROM webhooks w JOIN webhook_leases l ON l.app_id = w.app_id AND l.webhook_id = w.webhook_id
            WHERE w.app_id = $1 AND w.state = 'enabled' ORDER BY w.webhook_id
            """)
    static let selectOwner = SQLStatement("SELECT owner FROM webhook_leases WHERE app_id = $1 AND webhook_id = $2")
    static let lease = SQLStatement(
        """
        UPDATE webhook_leases SET owner = $3, leased_until = $4
        WHERE app_id = $1 AND webhook_id = $2 AND (owner = $3 OR leased_until <= $5)
        """)
    static let release = SQLStatement("UPDATE webhook_leases SET owner = NULL, leased_until = 0 WHERE app_id = $1 AND owner = $2")
    static let setHealth = SQLStatement(
        """
        UPDATE webhook_leases SET paused_until = $3, pauses = $4, failures = $5 WHERE app_id = $1 AND webhook_id = $2
        """)

    static let tell = SQLStatement(composed: telling)
    static let tellOnce = SQLStatement(
        composed: telling + """

            AND NOT EXISTS (
                SELECT 1 FROM webhook_deliveries d
                WHERE d.app_id = $1 AND d.webhook_id = webhooks.webhook_id AND d.event_id = $4)
            """)
    /// SQLite compiles a statement anew for each value that stands alone behind `LIKE`, so the value is joined to an empty text.
    private static let telling = """
        INSERT INTO webhook_deliveries (app_id, webhook_id, event_id, kind, subject, user_name, data, happened_at, state, due_at,
            attempts)
        SELECT app_id, webhook_id, CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT), CAST($8 AS TEXT),
            CAST($9 AS BIGINT), 'waiting', CAST($9 AS BIGINT), 0
        FROM webhooks
        WHERE app_id = $1 AND state = 'enabled'
            AND (webhook_id = CAST($3 AS BIGINT) OR CAST($3 AS BIGINT) IS NULL AND events LIKE ('' || $2))
        """
    static let selectWanting = SQLStatement(
        "SELECT 1 FROM webhooks WHERE app_id = $1 AND state = 'enabled' AND events LIKE ('' || $2) LIMIT 1")
    private static let deliveryColumns = """
        number, event_id, kind, subject, user_name, data, happened_at, state, due_at, attempts, tried_at, status, duration, answer
        """
    /// With the limit the inner question is one step in the index for each row, also for a planner that knows no numbers of the table.
    static let selectDue = SQLStatement(
        composed: """
            SELECT \(deliveryColumns) FROM webhook_deliveries d
            WHERE app_id = $1 AND webhook_id = $2 AND due_at <= $3 AND number = (
                SELECT e.number FROM webhook_deliveries e
                WHERE e.app_id = $1 AND e.webhook_id = $2 AND e.subject = d.subject AND e.due_at IS NOT NULL
                ORDER BY e.number LIMIT 1)
            ORDER BY due_at, number LIMIT $4
            """)
    static let settle = SQLStatement(
        """
        UPDATE webhook_deliveries SET state = $3, due_at = $4, attempts = attempts + $5, tried_at = $6, status = $7, duration = $8,
            answer = $9
        WHERE app_id = $1 AND number = $2
        """)
    /// The sum keeps the engine from going through all that waits by its moment: few are of one subject.
    static let putOff = SQLStatement(
        """
        UPDATE webhook_deliveries SET due_at = $4
        WHERE app_id = $1 AND webhook_id = $2 AND subject = $3 AND due_at IS NOT NULL AND due_at + 0 < $4
        """)
    static let page = SQLStatement(
        composed: """
            SELECT \(deliveryColumns) FROM webhook_deliveries
            WHERE app_id = $1 AND webhook_id = $2 AND number < $3 AND state = $5 ORDER BY number DESC LIMIT $4
            """)
    static let countWaiting = SQLStatement(
        """
        SELECT COUNT(*) FROM (
            SELECT 1 FROM webhook_deliveries WHERE app_id = $1 AND webhook_id = $2 AND due_at IS NOT NULL LIMIT $3) AS w
        """)
    static let selectEvent = SQLStatement(
        """
        SELECT number FROM webhook_deliveries
        WHERE app_id = $1 AND webhook_id = $2 AND event_id = $5 AND number > $3 AND due_at IS NULL ORDER BY number LIMIT $4
        """)
    /// The sum keeps the engine from beginning with the moment, by which each page would have to be sorted.
    static let selectEnded = SQLStatement(
        """
        SELECT number FROM webhook_deliveries
        WHERE app_id = $1 AND webhook_id = $2 AND number > $3 AND state = $6 AND happened_at + 0 >= $5 ORDER BY number LIMIT $4
        """)
    static let queue = SQLStatement(
        """
        UPDATE webhook_deliveries SET state = 'waiting', due_at = $3, attempts = 0 WHERE app_id = $1 AND number = $2
        """)
    static let deleteOld = SQLStatement(
        """
        DELETE FROM webhook_deliveries WHERE number IN (
            SELECT number FROM webhook_deliveries WHERE app_id = $1 AND happened_at < $3 ORDER BY happened_at, number LIMIT $2)
        """)
    /// Mostly there is no such webhook, so the engine has to begin with those: SQLite takes a cross join in its order.
    static let deleteOrphans = SQLStatement(
        """
        DELETE FROM webhook_deliveries WHERE number IN (
            SELECT d.number FROM webhooks w CROSS JOIN webhook_deliveries d
            WHERE w.app_id = $1 AND w.state = 'removed' AND d.app_id = w.app_id AND d.webhook_id = w.webhook_id LIMIT $2)
        """)
    static let deleteOfUser = SQLStatement(
        """
        DELETE FROM webhook_deliveries WHERE number IN (
            SELECT number FROM webhook_deliveries WHERE app_id = $1 AND user_name = $2 ORDER BY number LIMIT $3)
        """)
}
