import AppBackend
import AuditTrail
import RichPushModel

/// The audit. An entry is inserted in the transaction of its act; sealing gives it its place in the chain.
extension SQLBackendStore {
    public func record(_ entry: AuditEntry) async throws { try await writing { try $0.audit(entry) } }

    public func sealAudit(limit: Int) async throws -> Int {
        // Most of the time there is nothing to seal, and nothing has to be written to find that out.
        guard try await reading({ try $0.row(AuditSQL.selectUnsealed, 1) }) != nil else { return 0 }
        return try await writing { transaction in
            var head = try transaction.lockedAuditHead()
            let rows = try transaction.rows(AuditSQL.selectUnsealed, limit)
            for row in rows {
                let entry = try AuditSQL.entry(row)
                head = head.appending(entry)
                try transaction.run(AuditSQL.seal, entry.id, head.size, head.hash)
            }
            try transaction.run(AuditSQL.moveHead, head.size, head.hash)
            return rows.count
        }
    }

    public func auditEntries(
        _ filter: AuditFilter, after: Int64, before: Int64, limit: Int
    ) async throws -> [SealedAuditEntry] {
        try await reading { transaction in
            let (actor, subject) = (filter.actor?.lowercased(), filter.subject?.lowercased())
            let (action, from, until) = (filter.action?.rawValue, filter.from, filter.until)
            let rows =
                if let subject {
                    try transaction.rows(
                        AuditSQL.selectOfSubject, after, before, action, from, until, limit, subject, actor)
                } else if let actor {
                    try transaction.rows(AuditSQL.selectOfActor, after, before, action, from, until, limit, actor)
                } else {
                    try transaction.rows(AuditSQL.selectFiltered, after, before, action, from, until, limit)
                }
            return try rows.map(AuditSQL.sealed)
        }
    }

    public func auditEntries(after number: Int64, limit: Int) async throws -> [SealedAuditEntry] {
        try await reading { try $0.rows(AuditSQL.selectForward, number, limit).map(AuditSQL.verifiable) }
    }

    public func auditEnds() async throws -> AuditEnds {
        try await reading { transaction in
            guard let row = try transaction.row(AuditSQL.selectHead) else { return AuditEnds(anchor: .empty, head: .empty) }
            return AuditEnds(
                anchor: AuditHead(size: try row.integer(2), hash: try row.bytes(3)),
                head: AuditHead(size: try row.integer(0), hash: try row.bytes(1)))
        }
    }

    public func keep(_ checkpoint: AuditCheckpoint, at now: Timestamp) async throws {
        _ = try await writing { try $0.run(AuditSQL.insertCheckpoint, checkpoint.head.size, checkpoint.note, now) }
    }

    public func auditCheckpoints(after size: Int64, limit: Int) async throws -> [AuditCheckpoint] {
        try await reading { try $0.rows(AuditSQL.selectCheckpoints, size, limit).map(AuditSQL.checkpoint) }
    }

    public func pruneAudit(
        madeBefore moment: Timestamp, at now: Timestamp, signedBy key: AuditSigningKey, limit: Int
    ) async throws -> Int {
        let act = AuditEntry(.auditPruned, by: .server, at: now)
        return try await writing { transaction in
            guard let row = try transaction.row(AuditSQL.selectOldCheckpoint, moment) else { return 0 }
            let end = try AuditSQL.checkpoint(row).head
            // The anchor moves first: what lies below it counts for nothing, so the audit verifies at every step of the pruning.
            _ = try transaction.lockedAuditHead()
            let anchor = try transaction.row(AuditSQL.selectHead)?.integer(2) ?? 0
            if end.size > anchor {
                try transaction.run(AuditSQL.moveAnchor, end.size, end.hash)
                try transaction.run(AuditSQL.deleteCheckpoints, end.size)
                try transaction.audit(act.pruned(to: end, entries: end.size - anchor, signedBy: key))
            }
            return try transaction.run(AuditSQL.deleteEntries, end.size, limit)
        }
    }

    public func eraseAudit(_ erasure: AuditErasure, batch: Int) async throws {
        for statement in [AuditSQL.eraseActor, AuditSQL.eraseSubject] {
            while try await writing({ try $0.run(statement, erasure.user.folded, erasure.since, batch) }) > 0 {}
        }
        // No index finds the names in audiences, so this reads all entries, in short transactions that lock nothing.
        while try await sealAudit(limit: batch) == batch {}
        let names = erasure.names
        let limit = batch * Self.readingsPerWrite
        var number = erasure.readTo
        while true {
            let page = try await reading { [number] transaction in
                try transaction.rows(AuditSQL.selectAudiences, number, erasure.since, limit)
            }
            guard let last = page.last else { return }
            let found = try page.filter { try $0.optionalText(1).map { AuditErasure.details($0, name: names) } ?? false }
            for start in stride(from: 0, to: found.count, by: batch) {
                try await writing { transaction in
                    for row in found[start...].prefix(batch) { try transaction.run(AuditSQL.eraseDetails, row.values[0]) }
                }
            }
            if page.count < limit { return }
            number = try last.integer(0)
        }
    }

    /// How many times as many entries one page reads as one transaction changes.
    private static let readingsPerWrite = 10
}

extension AuditErasure {
    /// The tags of the user and of their installations, in lower case.
    fileprivate var names: Set<String> {
        Set(([Tag.user(user)] + installations.map(Tag.installation)).map { $0.text.lowercased() })
    }

    /// Whether the details of a send have one of the names, whatever was cut off their end.
    fileprivate static func details(_ details: String, name names: Set<String>) -> Bool {
        let words = details.lowercased().split { "=&|!() ".contains($0) }.map(String.init)
        if words.contains(where: names.contains) { return true }
        guard details.unicodeScalars.count >= AuditText.limit, let cut = words.last else { return false }
        return names.contains { $0.hasPrefix(cut) }
    }
}

extension BackendTransaction {
    /// Inserts an entry, if there is one, and what webhooks say of the act. `object` replaces the entry's where the act's number is known
    /// only now.
    func audit(_ entry: AuditEntry?, object: String? = nil) throws {
        guard var entry else { return }
        if let object { entry.object = object }
        try AuditRows.insert(entry, connection)
        if let event = WebhookEvent(entry) { try tell(event) }
    }

    /// The head, whose row stays locked until the transaction ends: sealers of all nodes take turns.
    fileprivate func lockedAuditHead() throws -> AuditHead {
        try run(AuditSQL.insertHead, AuditHead.empty.hash)
        guard let row = try row(AuditSQL.lockHead) else {
            throw SQLFault.refused(code: 0, reason: "the head of the audit is missing")
        }
        return AuditHead(size: try row.integer(0), hash: try row.bytes(1))
    }
}

extension SQLStatement { static let ofAudit = AuditSQL.all }

private enum AuditSQL {
    static let all = [
        selectUnsealed, seal, insertHead, lockHead, moveHead, moveAnchor, selectHead, selectFiltered, selectOfActor,
        selectOfSubject, selectForward, insertCheckpoint, selectCheckpoints, selectOldCheckpoint, deleteCheckpoints,
        deleteEntries, eraseActor, eraseSubject, selectAudiences, eraseDetails,
    ]

    static func entry(_ row: SQLRow) throws -> AuditEntry {
        AuditEntry(
            id: try row.text(0), at: try row.moment(1), action: try row.parsed(2) { AuditAction(rawValue: $0) },
            actorKind: try row.text(3), actor: try text(row, at: 5), subject: try text(row, at: 8), object: try row.text(4),
            details: try text(row, at: 11))
    }

    static func sealed(_ row: SQLRow) throws -> SealedAuditEntry {
        SealedAuditEntry(number: try row.integer(14), entry: try entry(row), hash: try row.bytes(15))
    }

    /// The entry, or one in its place that hashes to something else when the row was changed so that it is none, or so that filters find it
    /// under other names.
    static func verifiable(_ row: SQLRow) throws -> SealedAuditEntry {
        func isFound(_ text: AuditText, at column: Int) -> Bool {
            !text.isTrue || AuditRows.name(in: text) == (try? row.optionalText(column))
        }
        if let sealed = try? sealed(row), isFound(sealed.entry.actor, at: 16), isFound(sealed.entry.subject, at: 17) {
            return sealed
        }
        let nothing = AuditEntry(.auditRead, by: .server, at: Timestamp(milliseconds: 0))
        return SealedAuditEntry(number: try row.integer(14), entry: nothing, hash: (try? row.bytes(15)) ?? [])
    }

    static func checkpoint(_ row: SQLRow) throws -> AuditCheckpoint { try row.parsed(0) { AuditCheckpoint(note: $0) } }

    private static func text(_ row: SQLRow, at column: Int) throws -> AuditText {
        let content = try row.optionalText(column).map { AuditText.Content(text: $0, salt: try row.bytes(column + 1)) }
        return AuditText(content: content, commitment: try row.bytes(column + 2))
    }

    private static let columns = """
        entry_id, happened_at, action, actor_kind, object, actor, actor_salt, actor_hash, subject, subject_salt, subject_hash,
        details, details_salt, details_hash, number, hash, actor_name, subject_name
        """
    static let selectUnsealed = SQLStatement(
        composed: """
            SELECT \(columns) FROM audit_entries WHERE app_id = $1 AND number IS NULL ORDER BY happened_at, entry_id LIMIT $2
            """)
    static let seal = SQLStatement("UPDATE audit_entries SET number = $3, hash = $4 WHERE app_id = $1 AND entry_id = $2")
    static let insertHead = SQLStatement(
        """
        INSERT INTO audit_heads (app_id, size, hash, anchor_size, anchor_hash) VALUES ($1, 0, $2, 0, $2) ON CONFLICT DO NOTHING
        """)
    static let lockHead = SQLStatement("UPDATE audit_heads SET size = size WHERE app_id = $1 RETURNING size, hash")
    static let moveHead = SQLStatement("UPDATE audit_heads SET size = $2, hash = $3 WHERE app_id = $1")
    static let moveAnchor = SQLStatement("UPDATE audit_heads SET anchor_size = $2, anchor_hash = $3 WHERE app_id = $1")
    static let selectHead = SQLStatement("SELECT size, hash, anchor_size, anchor_hash FROM audit_heads WHERE app_id = $1")
    static let selectFiltered = filtered("")
    // A statement for each name, so that its index is read and not all entries; a subject has fewer of them than an actor.
    static let selectOfActor = filtered("AND actor_name = $8")
    static let selectOfSubject = filtered("AND subject_name = $8 AND (CAST($9 AS TEXT) IS NULL OR actor_name = $9)")

    private static func filtered(_ name: String) -> SQLStatement {
        SQLStatement(
            composed: """
                SELECT \(columns) FROM audit_entries
                WHERE app_id = $1 AND number > $2 AND number < $3 AND (CAST($4 AS TEXT) IS NULL OR action = $4)
                    AND (CAST($5 AS BIGINT) IS NULL OR happened_at >= $5) AND (CAST($6 AS BIGINT) IS NULL OR happened_at < $6)
                    \(name)
                ORDER BY number DESC LIMIT $7
                """)
    }
    static let selectForward = SQLStatement(
        composed: "SELECT \(columns) FROM audit_entries WHERE app_id = $1 AND number > $2 ORDER BY number LIMIT $3")
    static let insertCheckpoint = SQLStatement(
        "INSERT INTO audit_checkpoints (app_id, size, note, made_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
    static let selectCheckpoints = SQLStatement(
        "SELECT note FROM audit_checkpoints WHERE app_id = $1 AND size > $2 ORDER BY size LIMIT $3")
    static let selectOldCheckpoint = SQLStatement(
        "SELECT note FROM audit_checkpoints WHERE app_id = $1 AND made_at < $2 ORDER BY size DESC LIMIT 1")
    static let deleteCheckpoints = SQLStatement("DELETE FROM audit_checkpoints WHERE app_id = $1 AND size < $2")
    static let deleteEntries = SQLStatement(
        """
        DELETE FROM audit_entries WHERE app_id = $1 AND entry_id IN (
            SELECT entry_id FROM audit_entries WHERE app_id = $1 AND number <= $2 ORDER BY number LIMIT $3)
        """)
    // A key, and a rule of a hub, may have the name of a user: what it did, and what was done to it, is not the user's.
    static let eraseActor = SQLStatement(
        """
        UPDATE audit_entries SET actor = NULL, actor_salt = NULL, actor_name = NULL WHERE app_id = $1 AND entry_id IN (
            SELECT entry_id FROM audit_entries
            WHERE app_id = $1 AND actor_name = $2 AND happened_at >= $3 AND actor_kind NOT IN ('key', 'hub-key') LIMIT $4)
        """)
    static let eraseSubject = SQLStatement(
        """
        UPDATE audit_entries SET subject = NULL, subject_salt = NULL, subject_name = NULL, details = NULL, details_salt = NULL
        WHERE app_id = $1 AND entry_id IN (
            SELECT entry_id FROM audit_entries
            WHERE app_id = $1 AND subject_name = $2 AND happened_at >= $3 AND action NOT LIKE 'key.%'
                AND action <> 'access.refused' LIMIT $4)
        """)
    /// Every entry, with its details where they have an audience.
    static let selectAudiences = SQLStatement(
        """
        SELECT number,
            CASE WHEN action IN ('send.accepted', 'schedule.created', 'schedule.changed', 'activity.started') AND happened_at >= $3 THEN details END
        FROM audit_entries WHERE app_id = $1 AND number > $2 ORDER BY number LIMIT $4
        """)
    static let eraseDetails = SQLStatement(
        "UPDATE audit_entries SET details = NULL, details_salt = NULL WHERE app_id = $1 AND number = $2")
}
