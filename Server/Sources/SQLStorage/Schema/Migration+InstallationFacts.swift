extension Migration {
    /// What installations told of themselves, for whoever looks after devices.
    static let installationFacts = Migration(number: 12, name: "facts of installations") { dialect in
        "ALTER TABLE bindings ADD COLUMN facts \(dialect.text);"
    }
}
