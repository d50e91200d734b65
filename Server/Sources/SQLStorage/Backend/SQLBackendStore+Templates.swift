import AppBackend
import AuditTrail
import RichPushModel
import ServiceErrors

/// Message templates in their versions.
extension SQLBackendStore {
    public func putTemplate(
        _ draft: TemplateDraft, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> StoredTemplate {
        let text = try draft.content.storedText
        return try await writing { transaction in
            // The counter's row orders changes at the same moment.
            _ = try transaction.next(.template)
            let latest = try transaction.row(TemplateSQL.selectLatestVersion, draft.name)?.optionalInteger(0) ?? 0
            if let replaces = draft.replaces, Int64(replaces) != latest {
                let what = latest == 0 ? "there is no such message template" : "version \(latest) is the latest"
                throw ServiceError(.conflict, "replaces: \(what); look at it again")
            }
            if latest == 0 {
                let count = try transaction.row(TemplateSQL.count)?.integer(0) ?? 0
                guard count < StoredTemplate.limits.templates else {
                    throw ServiceError(
                        .quotaExceeded, "there are \(StoredTemplate.limits.templates) message templates already; remove one")
                }
            }
            for content in draft.contents { try transaction.store(content, at: now) }
            let holder = ContentHolder.template(draft.name, latest + 1)
            try transaction.claim(draft.content.notification.contents, of: UserID(0), for: holder, at: now)
            try transaction.run(TemplateSQL.insert, draft.name, latest + 1, text, draft.createdBy, now)
            try transaction.removeVersions(of: draft.name, upTo: latest + 1 - Int64(StoredTemplate.limits.versions), at: now)
            try transaction.audit(entry)
            return StoredTemplate(
                name: draft.name, version: Int(latest + 1), content: draft.content, createdBy: draft.createdBy, createdAt: now)
        }
    }

    public func template(_ name: String, version: Int?) async throws -> StoredTemplate? {
        try await reading { transaction in
            let row =
                if let version {
                    try transaction.row(TemplateSQL.select, name, version)
                } else {
                    try transaction.row(TemplateSQL.selectLatest, name)
                }
            return try row.map(TemplateSQL.template)
        }
    }

    public func templateVersions(_ name: String) async throws -> [Int] {
        try await reading { try $0.rows(TemplateSQL.selectVersions, name).map { Int(try $0.integer(0)) } }
    }

    public func templates(after name: String, limit: Int) async throws -> [StoredTemplate] {
        try await reading { try $0.rows(TemplateSQL.list, name, limit).map(TemplateSQL.template) }
    }

    public func removeTemplate(_ name: String, at now: Timestamp, audit entry: AuditEntry?) async throws -> Bool {
        try await writing { transaction in
            guard try transaction.removeVersions(of: name, upTo: .max, at: now) > 0 else { return false }
            try transaction.audit(entry)
            return true
        }
    }
}

extension BackendTransaction {
    @discardableResult
    fileprivate func removeVersions(of name: String, upTo version: Int64, at now: Timestamp) throws -> Int {
        let removed = try rows(TemplateSQL.delete, name, version)
        for row in removed { try release(.template(name, try row.integer(0)), at: now) }
        return removed.count
    }
}

extension SQLStatement { static let ofTemplates = TemplateSQL.all }

private enum TemplateSQL {
    static let all = [selectLatestVersion, count, insert, select, selectLatest, selectVersions, list, delete]

    static func template(_ row: SQLRow) throws -> StoredTemplate {
        StoredTemplate(
            name: try row.text(0), version: Int(try row.integer(1)), content: TemplateContent(storedText: try row.text(2)),
            createdBy: try row.text(3), createdAt: try row.moment(4))
    }

    private static let columns = "name, version, content, created_by, created_at"
    static let selectLatestVersion = SQLStatement(
        "SELECT MAX(version) FROM message_templates WHERE app_id = $1 AND name = $2")
    static let count = SQLStatement("SELECT COUNT(DISTINCT name) FROM message_templates WHERE app_id = $1")
    static let insert = SQLStatement(
        composed: "INSERT INTO message_templates (app_id, \(columns)) VALUES ($1, $2, $3, $4, $5, $6)")
    static let select = SQLStatement(
        composed: "SELECT \(columns) FROM message_templates WHERE app_id = $1 AND name = $2 AND version = $3")
    static let selectLatest = SQLStatement(
        composed: """
            SELECT \(columns) FROM message_templates WHERE app_id = $1 AND name = $2 ORDER BY app_id, name, version DESC LIMIT 1
            """)
    static let selectVersions = SQLStatement(
        "SELECT version FROM message_templates WHERE app_id = $1 AND name = $2 ORDER BY name, version DESC")
    static let list = SQLStatement(
        composed: """
            SELECT \(columns) FROM message_templates t WHERE t.app_id = $1 AND t.name > $2 AND t.version = (
                SELECT MAX(o.version) FROM message_templates o WHERE o.app_id = t.app_id AND o.name = t.name)
            ORDER BY t.name, t.version LIMIT $3
            """)
    static let delete = SQLStatement(
        "DELETE FROM message_templates WHERE app_id = $1 AND name = $2 AND version <= $3 RETURNING version")
}
