enum SQLiteDatabasePlaceholder {}
