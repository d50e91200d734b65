import AppBackend

/// A table whose rows belong to one user each, as an export reads it.
struct PersonTable {
    let name: String
    /// Whose the row is.
    let owner: String
    /// Unique among the rows of one user.
    let key: String
    let isNumbered: Bool
    /// What an export shows besides the key. A device token is cut.
    let columns: [String]

    var statement: SQLStatement {
        SQLStatement(
            composed: """
                SELECT \(([key] + columns).joined(separator: ", ")) FROM \(name)
                WHERE app_id = $1 AND \(owner) = $2 AND \(key) > $3 ORDER BY \(key) LIMIT $4
                """)
    }

    /// Every table with rows of one user each.
    static let all = [
        PersonTable(
            name: "users", owner: "user_id", key: "user_id", isNumbered: true, columns: ["name", "role", "created_at"]),
        PersonTable(
            name: "installation_credentials", owner: "user_id", key: "installation_id", isNumbered: false,
            columns: ["expires_at"]),
        PersonTable(
            name: "bindings", owner: "user_id", key: "binding_id", isNumbered: true,
            columns: [
                "record_id", "kind", "platform", "handle", "environment", "topic", "tags", "from_at", "until_at", "sealing_key",
                "facts",
            ]),
        PersonTable(name: "user_tags", owner: "user_id", key: "audience_key", isNumbered: false, columns: []),
        PersonTable(
            name: "contents", owner: "owner_id", key: "content_id", isNumbered: false,
            columns: ["media_type", "byte_count", "file_name", "created_at", "expires_at"]),
        PersonTable(
            name: "rich_notifications", owner: "sender_id", key: "rich_id", isNumbered: true,
            columns: [
                "kind", "style", "title", "subtitle", "message", "alt_text", "content_id", "thumb_id", "audience", "due_at",
                "expires_at", "completed_at", "recalled_at",
            ]),
        PersonTable(
            name: "repeat_keys", owner: "user_id", key: "repeat_key", isNumbered: false, columns: ["rich_id", "created_at"]),
        PersonTable(name: "read_marks", owner: "user_id", key: "rich_id", isNumbered: true, columns: ["read_at"]),
        PersonTable(
            name: "receipts", owner: "user_id", key: "receipt_key", isNumbered: false,
            columns: ["rich_id", "installation_id", "kind", "action", "happened_at", "received_at"]),
        PersonTable(
            name: "backend_audit", owner: "user_id", key: "entry_id", isNumbered: true,
            columns: ["happened_at", "event", "record_id"]),
    ]

    /// A row as a record.
    func record(_ row: SQLRow) -> PersonRecord {
        let fields = zip([key] + columns, row.values).map { column, value in
            PersonRecord.Field(column, Self.value(value, isToken: column == "handle"))
        }
        return PersonRecord(kind: name, fields: fields, cursor: fields.first?.value ?? .absent)
    }

    private static func value(_ value: SQLValue, isToken: Bool) -> PersonValue {
        switch value {
        case .integer(let number): .number(number)
        case .text(let text): .text(isToken ? "\(text.prefix(6))…" : text)
        case .null, .bytes: .absent
        }
    }
}
