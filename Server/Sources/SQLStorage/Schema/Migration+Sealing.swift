extension Migration {
    /// The public keys for which senders seal.
    static let sealing = Migration(number: 8, name: "keys of installations") { dialect in
        "ALTER TABLE bindings ADD COLUMN sealing_key \(dialect.text);"
    }
}
