extension Migration {
    /// Failed sign-ins: of an account in a network, of an account (empty source), of a network (empty account).
    static let signInCounts = Migration(number: 22, name: "counts of failed sign-ins") { dialect in
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE sign_in_counts (
                app_id \(integer) NOT NULL, account \(text) NOT NULL, source \(text) NOT NULL, failures \(integer) NOT NULL,
                last_at \(integer) NOT NULL, blocked_until \(integer) NOT NULL, known_until \(integer) NOT NULL,
                idle_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, account, source));
            CREATE INDEX sign_in_counts_by_age ON sign_in_counts (app_id, idle_at);
            """
    }
}
