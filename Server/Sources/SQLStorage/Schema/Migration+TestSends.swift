extension Migration {
    /// What a test send was answered, for who repeats it.
    static let testSends = Migration(number: 10, name: "answers of test sends") { dialect in
        "ALTER TABLE idempotency_keys ADD COLUMN answer \(dialect.bytes);"
    }
}
