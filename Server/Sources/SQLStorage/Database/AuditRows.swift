import AuditTrail

/// The rows of the audit as the stores of hubs and of the app backend write them, each in the transaction of its act.
enum AuditRows {
    static let all = [insertion]

    /// The app behind `/api`, of which the audit is. Every row of the app backend carries the number of its app, and there is one.
    static let app = SQLValue.integer(1)

    static func insert(_ entry: AuditEntry, _ connection: any SQLConnection) throws {
        let head: [SQLValue] = [
            app, .text(entry.id), .integer(entry.at.milliseconds), .text(entry.action.rawValue), .text(entry.actorKind),
            .optional(name(in: entry.actor)), .optional(name(in: entry.subject)), .text(entry.object),
        ]
        try connection.run(insertion, head + values(entry.actor) + values(entry.subject) + values(entry.details))
    }

    /// By which filters and erasure find a text: its first word in lower case. The rest of an actor is the network.
    static func name(in text: AuditText) -> String? {
        text.content?.text.split(separator: " ").first.map { $0.lowercased() }
    }

    private static func values(_ text: AuditText) -> [SQLValue] {
        [.optional(text.content?.text), text.content.map { SQLValue.bytes($0.salt) } ?? .null, .bytes(text.commitment)]
    }

    private static let insertion = SQLStatement(
        """
        INSERT INTO audit_entries (app_id, entry_id, happened_at, action, actor_kind, actor_name, subject_name, object, actor,
            actor_salt, actor_hash, subject, subject_salt, subject_hash, details, details_salt, details_hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
        """)
}
