extension Migration {
    /// Finds the audit entries about what a user lost to another.
    static let auditIndex = Migration(number: 23, name: "audit entries by the other user") { _ in
        "CREATE INDEX backend_audit_by_other ON backend_audit (app_id, other_user_id, entry_id);"
    }
}
