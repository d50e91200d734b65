import PostgresDatabase

extension SettingKind where Value == DatabaseURL {
    /// Where a PostgreSQL database is, perhaps with a password. Never shown whole.
    static var databaseURL: SettingKind {
        .scalar(
            "an address such as postgres://user:password@host/database, with % and two digits for what is special in a password",
            parse: { try? DatabaseURL($0) }, format: { _ in "(secret)" })
    }
}
