import AppBackend
import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// Sends that are accepted, and the work that is left to do for them.
extension SQLBackendStore {
    public func accept(_ draft: RichNotificationDraft, at now: Timestamp, audit entry: AuditEntry?) async throws -> Acceptance {
        try await writing { transaction in
            if let key = draft.idempotencyKey, let earlier = try transaction.repeated(key, draft.sender) { return earlier }
            let notification = try transaction.insert(draft, at: now)
            try transaction.audit(entry, object: "\(notification.id)")
            return .accepted(notification)
        }
    }

    public func repeated(_ key: IdempotencyKey, of user: UserID) async throws -> Acceptance? {
        try await reading { try $0.repeated(key, user) }
    }

    public func lastNumber() async throws -> Int32 { Int32(clamping: try await reading { try $0.last(.notification) }) }

    public func push(of id: RichID) async throws -> OutgoingPush? {
        try await reading { transaction in
            guard let row = try transaction.row(SendSQL.selectPush, id) else { return nil }
            let message = PushMessage(
                body: try row.bytes(0), pushType: try row.text(1), priority: Int(try row.integer(2)),
                collapseID: try row.optionalText(3), expiresAt: try row.optionalMoment(4))
            return OutgoingPush(
                message: message,
                translations: try transaction.pushTranslations(of: id, TranslationKey.list(stored: try row.optionalText(8))),
                pushesPerSecond: try row.optionalInteger(6).map(Int.init),
                localTime: try row.optionalText(7) == nil ? nil : try row.parsed(7) { LocalDelivery(storedText: $0) },
                cap: try row.optionalText(9).flatMap(FrequencyCap.init),
                split: try row.optionalText(10).flatMap { SendSplit(storedText: $0) }?.ofPushes, hubKey: try row.text(5))
        }
    }

    public func markSent(_ id: RichID, trackingID: NotificationID, check: Timestamp) async throws -> Bool {
        try await writing { transaction in
            try transaction.run(SendSQL.setTracking, id, trackingID.text)
            let isWanted = try transaction.run(SendSQL.setWork, id, OutboxWork.Task.track.rawValue, check) > 0
            // A recall that came in between found nothing to cancel at the hub; now there is.
            if !isWanted { try transaction.run(SendSQL.setCancel, id, OutboxWork.Task.cancel.rawValue, check) }
            return isWanted
        }
    }

    public func markRefused(_ id: RichID, at now: Timestamp, audit entry: AuditEntry?) async throws {
        try await writing { transaction in
            if try transaction.run(SendSQL.refuse, id, now) > 0 { try transaction.audit(entry) }
            try transaction.release(.send(Int64(id.number)), at: now)
        }
    }

    public func markCompleted(
        _ id: RichID, at moment: Timestamp, order: OrderNumber?, audit entry: AuditEntry?
    ) async throws {
        try await writing { transaction in
            if try transaction.run(SendSQL.complete, id, moment, order) > 0 { try transaction.audit(entry) }
        }
    }

    public func recall(
        _ id: RichID, at now: Timestamp, contentExpiry: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.run(SendSQL.recall, id, now, OutboxWork.Task.cancel.rawValue) > 0 else { return false }
            try transaction.release(.send(Int64(id.number)), at: contentExpiry)
            try transaction.audit(entry)
            return true
        }
    }

    public func markCancelled(_ id: RichID, at moment: Timestamp, audit entry: AuditEntry?) async throws {
        try await writing { transaction in
            try transaction.run(SendSQL.endCancel, id)
            if try transaction.run(SendSQL.completeRecalled, id, moment) > 0 { try transaction.audit(entry) }
        }
    }

    public func dueWork(at now: Timestamp, limit: Int) async throws -> [OutboxWork] {
        try await reading { transaction in
            try transaction.rows(SendSQL.selectWork, now, limit).compactMap { row in
                guard let id = try row.richID(0), let task = OutboxWork.Task(rawValue: try row.text(1)) else { return nil }
                return OutboxWork(id: id, task: task, dueAt: try row.moment(2))
            }
        }
    }

    public func postpone(_ work: OutboxWork, until moment: Timestamp) async throws {
        _ = try await writing { try $0.run(SendSQL.postpone, work.id, moment, work.task.rawValue) }
    }

    public func removeIdempotencyKeys(before moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { try $0.run(SendSQL.deleteIdempotencyKeys, moment, limit) }
    }
}

extension BackendTransaction {
    fileprivate func repeated(_ key: IdempotencyKey, _ user: UserID) throws -> Acceptance? {
        guard let row = try row(SendSQL.selectIdempotencyKey, user, key.key) else { return nil }
        guard try row.bytes(0) == key.digest else { return .repeatMismatch }
        guard let id = try row.richID(1), let earlier = try notification(id) else {
            throw ServiceError(.conflict, "the send of this Idempotency-Key is over and was removed; a new send needs a new key")
        }
        return .repeated(earlier)
    }

    /// Everything that a 2xx answer promises.
    fileprivate func insert(_ draft: RichNotificationDraft, at now: Timestamp) throws -> RichNotification {
        try requireUser(draft.sender)
        if let asked = draft.number { try skip(to: asked) }
        let number = try next(.notification)
        guard let id = Int32(exactly: number).flatMap({ RichID(number: $0) }) else {
            throw ServiceError(.quotaExceeded, "the numbers of rich notifications are used up")
        }
        // Before the mark, which a refusal does not give back on every engine.
        try claim(draft.contents, of: draft.sender, for: .send(number), at: now)
        // After the number, whose row stays locked: so both are in one order.
        let order = try OrderNumbers.mark(connection)
        try insert(draft, id, order, at: now)
        try insertTranslations(of: draft, id)
        for key in AudienceKey.keys(of: draft.audience).union([.sender(draft.sender)]) { try run(SendSQL.insertKey, key, id) }
        if let key = draft.idempotencyKey {
            try run(SendSQL.insertIdempotencyKey, draft.sender, key.key, key.digest, id, now)
        }
        if let step = draft.step, try !advance(step, sent: id, at: now) { throw ServiceError.scheduleMovedOn }
        guard let stored = try notification(id) else {
            throw SQLFault.refused(code: 0, reason: "an inserted row is missing")
        }
        return stored
    }

    /// Makes the number that was asked for the next one.
    private func skip(to number: RichID) throws {
        let isNear = try skip(.notification, to: Int64(number.number) - 1, atMost: Int64(IDReservation.limit) - 1)
        guard isNear else {
            throw ServiceError(.conflict, "id: other sends were faster; ask for a number and seal the envelope again")
        }
    }

    private func insertTranslations(of draft: RichNotificationDraft, _ id: RichID) throws {
        let hasOwnPush = draft.hasTranslatedPush
        for (place, translation) in draft.translations.enumerated() {
            let texts = translation.texts
            try run(
                SendSQL.insertTranslation, Self.translationID(id, place), draft.sender, texts.title, texts.subtitle,
                texts.message, texts.altText, translation.contentID, translation.thumbID,
                hasOwnPush ? translation.push.message(for: id).body : nil)
        }
    }

    /// The number of the translation at this place among those of the notification.
    static func translationID(_ id: RichID, _ place: Int) -> Int64 { Int64(id.number) * 64 + Int64(place) }

    /// The last place that a translation can have.
    static let lastPlace = 63

    fileprivate func pushTranslations(of id: RichID, _ keys: [TranslationKey]) throws -> [PushTranslation] {
        try zip(
            keys, rows(SendSQL.selectPushTranslations, Self.translationID(id, 0), Self.translationID(id, Self.lastPlace))
        ).compactMap { key, row in
            try row.optionalBytes(0).map { PushTranslation(key, body: $0) }
        }
    }

    /// The upkeep takes the work over only when the request that made it has had time to do it itself. A schedule has no request.
    private static let handOverTime: Duration = .seconds(30)

    private func insert(_ draft: RichNotificationDraft, _ id: RichID, _ order: OrderNumber, at now: Timestamp) throws {
        let push = draft.push.message(for: id)
        try run(
            SendSQL.insertOne, id, draft.sender, draft.senderName.text, draft.kind.rawValue, draft.style.rawValue,
            draft.texts.title, draft.texts.subtitle, draft.texts.message, draft.texts.altText, draft.contentID, draft.thumbID,
            draft.audience.description, now, draft.expiresAt, push.body, push.pushType ?? "alert", push.priority ?? 10,
            push.collapseID, "rich:\(id):\(draft.nonce)", OutboxWork.Task.send.rawValue,
            draft.step == nil ? now + Self.handOverTime : now, draft.pushesPerSecond, order,
            try draft.localTime?.storedText, TranslationKey.stored(draft.translations.map(\.key)), draft.cap?.description,
            try draft.split?.storedText)
    }
}

extension SQLStatement { static let ofSends = SendSQL.all }

private enum SendSQL {
    static let all = [
        selectPush, selectIdempotencyKey, deleteIdempotencyKeys, insertOne, insertTranslation, selectPushTranslations, insertKey,
        insertIdempotencyKey,
        setTracking, setWork, setCancel, refuse, complete, recall, endCancel, completeRecalled, selectWork, postpone,
    ]

    static let selectPush = SQLStatement(
        """
        SELECT push_body, push_type, priority, collapse_id, expires_at, hub_key, pushes_per_second,
            local_time, languages, frequency_cap, split
        FROM rich_notifications
        WHERE app_id = $1 AND rich_id = $2
        """)
    static let selectIdempotencyKey = SQLStatement(
        "SELECT digest, rich_id FROM repeat_keys WHERE app_id = $1 AND user_id = $2 AND repeat_key = $3")
    static let deleteIdempotencyKeys = SQLStatement(
        """
        DELETE FROM repeat_keys WHERE app_id = $1 AND (user_id, repeat_key) IN (
            SELECT user_id, repeat_key FROM repeat_keys WHERE app_id = $1 AND created_at < $2 ORDER BY created_at, user_id, repeat_key LIMIT $3)
        """)
    static let insertTranslation = SQLStatement(
        """
        INSERT INTO rich_translations
            (app_id, translation_id, sender_id, title, subtitle, message, alt_text, content_id, thumb_id, push_body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """)
    static let selectPushTranslations = SQLStatement(
        """
        SELECT push_body FROM rich_translations WHERE app_id = $1 AND translation_id BETWEEN $2 AND $3
        ORDER BY translation_id
        """)
    static let insertOne = SQLStatement(
        """
        INSERT INTO rich_notifications
            (app_id, rich_id, sender_id, sender_name, kind, style, title, subtitle, message, alt_text, content_id, thumb_id,
             audience, due_at, expires_at, push_body, push_type, priority, collapse_id, hub_key, work, work_at,
             pushes_per_second, start_order, local_time, languages, frequency_cap, split, refused)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
            $23, $24, $25, $26, $27, $28, 0)
        """)
    static let insertKey = SQLStatement("INSERT INTO audience_index (app_id, audience_key, rich_id) VALUES ($1, $2, $3)")
    static let insertIdempotencyKey = SQLStatement(
        """
        INSERT INTO repeat_keys (app_id, user_id, repeat_key, digest, rich_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)
        """)
    static let setTracking = SQLStatement("UPDATE rich_notifications SET tracking_id = $3 WHERE app_id = $1 AND rich_id = $2")
    static let setWork = SQLStatement(
        """
        UPDATE rich_notifications SET work = $3, work_at = $4
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NULL AND completed_at IS NULL
        """)
    static let setCancel = SQLStatement(
        """
        UPDATE rich_notifications SET work = $3, work_at = $4
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NOT NULL
        """)
    static let refuse = SQLStatement(
        """
        UPDATE rich_notifications SET refused = 1, ended_at = $3, work = NULL, work_at = NULL
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NULL AND refused = 0
        """)
    static let complete = SQLStatement(
        """
        UPDATE rich_notifications SET completed_at = $3, ended_at = $3, end_order = $4, work = NULL, work_at = NULL
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NULL AND completed_at IS NULL
        """)
    static let recall = SQLStatement(
        """
        UPDATE rich_notifications SET recalled_at = $3, ended_at = $3, work = $4, work_at = $3
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NULL
        """)
    static let endCancel = SQLStatement(
        """
        UPDATE rich_notifications SET work = NULL, work_at = NULL
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NOT NULL AND work IS NOT NULL
        """)
    static let completeRecalled = SQLStatement(
        """
        UPDATE rich_notifications SET completed_at = $3
        WHERE app_id = $1 AND rich_id = $2 AND recalled_at IS NOT NULL AND completed_at IS NULL AND refused = 0
        """)
    static let selectWork = SQLStatement(
        """
        SELECT rich_id, work, due_at FROM rich_notifications
        WHERE app_id = $1 AND work IS NOT NULL AND work_at <= $2 ORDER BY CASE work WHEN 'track' THEN 1 ELSE 0 END, work_at, rich_id LIMIT $3
        """)
    static let postpone = SQLStatement(
        "UPDATE rich_notifications SET work_at = $3 WHERE app_id = $1 AND rich_id = $2 AND work = $4")
}
